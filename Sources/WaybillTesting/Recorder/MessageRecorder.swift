public import Waybill
public import WaybillRouting

/// Records every message of a bus with its outcome.
///
/// ```swift
/// let recorder = MessageRecorder(on: bus)
/// try await bus.route("app://order/pay?total=42")
/// let receipt = try recorder.messages(to: "app://home/receipt").first
/// let sent = try await recorder.wait(for: "app://log/**", count: 2)
/// ```
///
/// The recorder sees routed, sent and published messages and every return leg, in the order in which the bus
/// accepts them. It is outside of all middlewares. It also records messages that no pattern matches, and
/// texts that are not URLs. When a caller has its reply, the recorder has it as well. A published message is
/// recorded once for each subscriber, and not at all without one. A sent message is recorded when its turn
/// has come.
///
/// The recorder records until it is dropped or ``stop()`` is called. It keeps all recorded messages, so use
/// it in tests only.
public final class MessageRecorder: Sendable {
    /// The stage of a message for which a test waits.
    public enum DeliveryBounds: Sendable {
        /// The bus has taken it.
        case sent
        /// It has ended.
        case ended
    }

    private let configuration: MessageBus.Configuration
    private let log = RecorderLog()
    private let registration: Registration
    private let forget: @Sendable () -> Void

    /// Starts to record.
    ///
    /// - Parameter bus: The bus, which the recorder does not keep.
    public init(on bus: MessageBus) {
        self.configuration = bus.configuration
        self.registration = bus.observe { [log] in log.add($0) }
        self.forget = bus.observeDeadLetters { [log] in log.add($0) }
    }

    deinit { self.stop() }

    /// All messages so far, in the order in which the bus took them.
    public var messages: [RecordedMessage] { self.log.messages }

    /// Returns the messages to a URL, or to the URLs that a pattern matches.
    ///
    /// - Parameter pattern: The URL of the message, or a pattern such as `app://user/**`.
    /// - Returns: The messages, in the order in which the bus accepted them.
    /// - Throws: `invalidPattern`.
    public func messages(to pattern: String) throws(RoutingError) -> [RecordedMessage] {
        let scope = try self.configuration.scope(of: pattern)
        return self.log.messages.filter { $0.url == pattern || scope.canRoute($0.url) }
    }

    /// Waits for a message, which may have been recorded already.
    ///
    /// - Parameters:
    ///   - pattern: The URL of the message, or a pattern.
    ///   - stage: The stage that the message must reach.
    ///   - count: The number of the message; 2 waits for the second message.
    ///   - limit: The time to wait, in real time.
    /// - Returns: The message.
    /// - Throws: `deadlineExceeded` with the list of recorded messages, `cancelled`, or `invalidPattern`.
    @discardableResult
    public func wait(
        for pattern: String,
        until stage: DeliveryBounds = .ended,
        count: Int = 1,
        within limit: Duration = .seconds(5)
    ) async throws(RoutingError) -> RecordedMessage {
        let scope = try self.configuration.scope(of: pattern)
        let place = max(1, count) - 1
        let found: @Sendable ([RecordedMessage]) -> RecordedMessage? = { messages in
            let messages = messages.filter { message in
                (stage == .sent || message.hasEnded)
                    && (message.url == pattern || scope.canRoute(message.url))
            }
            return place < messages.count ? messages[place] : nil
        }
        if let message = await self.log.first(found, within: limit) { return message }
        if Task.isCancelled {
            throw RoutingError(
                .cancelled,
                url: pattern,
                message: "the task that waited for the message was cancelled"
            )
        }
        let seen = self.messages.suffix(5).map(\.description).joined(separator: "; ")
        throw RoutingError(
            .deadlineExceeded,
            url: pattern,
            message:
                "\(count == 1 ? "the message" : "message number \(count)") did not arrive within \(limit); the last "
                + "messages are: \(seen.isEmpty ? "none" : seen)"
        )
    }

    /// Forgets what was recorded.
    public func clear() { self.log.clear() }

    /// Ends the recording.
    ///
    /// The recorded messages are kept.
    public func stop() {
        self.registration.cancel()
        self.forget()
    }
}
