public import Waybill
public import WaybillRouting

/// Records every message of a bus and its outcome.
///
/// ```swift
/// let recorder = MessageRecorder(on: bus)
/// try await bus.route("app://order/pay?total=42")
/// let receipt = try recorder.messages(to: "app://home/receipt").first
/// let sent = try await recorder.wait(for: "app://log/**", count: 2)
/// ```
///
/// The recorder sees all messages that are routed, sent or published, and all messages to return URLs. It
/// records the messages in the order in which the bus accepts them, before any middleware. The recorder also
/// records a message that no pattern matches, and a message that fails earlier, for example because its text
/// is not a URL.
///
/// When a caller has received its reply, the recorder has already recorded the reply. A published message is
/// recorded once for each subscriber. Without subscribers, it is not recorded. A sent message is recorded
/// when its delivery begins.
///
/// The recorder starts when it is created. It stops when it is released or ``stop()`` is called. The recorder
/// keeps all messages in memory, so use it only in tests.
public final class MessageRecorder: Sendable {
    /// The state of a message for which a caller waits.
    public enum DeliveryBounds: Sendable {
        /// The bus has begun to deliver the message.
        case sent
        /// The message has a reply or a failure.
        case ended
    }

    private let configuration: MessageBus.Configuration
    private let log = RecorderLog()
    private let registration: Registration
    private let forget: @Sendable () -> Void

    /// Creates a recorder and starts to record.
    ///
    /// - Parameter bus: The bus. The recorder does not keep the bus alive.
    public init(on bus: MessageBus) {
        self.configuration = bus.configuration
        self.registration = bus.observe { [log] in log.add($0) }
        self.forget = bus.observeDeadLetters { [log] in log.add($0) }
    }

    deinit { self.stop() }

    /// All messages so far, in the order in which the bus accepted them.
    public var messages: [RecordedMessage] { self.log.messages }

    /// Returns the messages to a URL, or to the URLs that match a pattern.
    ///
    /// - Parameter pattern: The URL in the sender's spelling, or a pattern as in a registration, for example
    ///   `app://user/**`.
    /// - Returns: The messages, in the order in which the bus accepted them.
    /// - Throws: `invalidPattern`.
    public func messages(to pattern: String) throws(RoutingError) -> [RecordedMessage] {
        let scope = try self.configuration.scope(of: pattern)
        return self.log.messages.filter { $0.url == pattern || scope.canRoute($0.url) }
    }

    /// Waits for a message.
    ///
    /// A message that was recorded earlier counts too.
    ///
    /// - Parameters:
    ///   - pattern: The URL in the sender's spelling, or a pattern.
    ///   - stage: The state to wait for: the message is sent, or has a reply or a failure.
    ///   - count: 1 to wait for the first message that matches, 2 for the second message, and so on.
    ///   - limit: The maximum time to wait, in real time.
    /// - Returns: The message.
    /// - Throws: `deadlineExceeded`, whose message names the last recorded messages; `cancelled`; or
    ///   `invalidPattern`.
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

    /// Removes all recorded messages.
    ///
    /// The recorder does not record the later outcome of a removed message.
    public func clear() { self.log.clear() }

    /// Stops the recording.
    ///
    /// The messages that the recorder has recorded remain available.
    public func stop() {
        self.registration.cancel()
        self.forget()
    }
}
