public import Waybill
public import WaybillRouting

/// Records every message of a bus, and how each ended.
///
/// ```swift
/// let recorder = MessageRecorder(on: bus)
/// try await bus.route("app://order/pay?total=42")
/// let receipt = try recorder.messages(to: "app://home/receipt").first
/// let sent = try await recorder.wait(for: "app://log/**", count: 2)
/// ```
///
/// It sees what is routed, sent, published, and every return leg, in the order in which the bus takes them,
/// outside of all middlewares; a message that no pattern matches, and one that fails before that, as a text
/// that is no URL does. When a caller has its reply, so has the recorder. A message that is published is
/// there once for each subscriber, and not at all where there is none; one that is sent is there when its
/// turn has come.
///
/// It records from when it is made until it is dropped or ``stop()`` is called, and keeps everything: it is
/// for tests.
public final class MessageRecorder: Sendable {
    /// What a message that is waited for has come to.
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
    /// - Parameter bus: the bus, which the recorder does not keep.
    public init(on bus: MessageBus) {
        self.configuration = bus.configuration
        self.registration = bus.observe { [log] in log.add($0) }
        self.forget = bus.observeDeadLetters { [log] in log.add($0) }
    }

    deinit { self.stop() }

    /// All messages so far, in the order in which the bus took them.
    public var messages: [RecordedMessage] { self.log.messages }

    /// The messages to a URL, or to those that a pattern matches.
    ///
    /// - Parameter pattern: the URL as it was sent, or a pattern as handlers have it: `app://user/**`.
    /// - Returns: the messages, in the order in which the bus took them.
    /// - Throws: `invalidPattern`.
    public func messages(to pattern: String) throws(RoutingError) -> [RecordedMessage] {
        let scope = try self.configuration.scope(of: pattern)
        return self.log.messages.filter { $0.url == pattern || scope.canRoute($0.url) }
    }

    /// Waits for a message, one that was recorded already included.
    ///
    /// - Parameters:
    ///   - pattern: the URL as it is sent, or a pattern.
    ///   - stage: whether it is enough that it was sent.
    ///   - count: which one, if there are several: the second has the count two.
    ///   - limit: how long to wait, in the system's time.
    /// - Returns: the message.
    /// - Throws: `deadlineExceeded` that says what has come instead, `cancelled`, or `invalidPattern`.
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

    /// Ends the recording; what was recorded stays.
    public func stop() {
        self.registration.cancel()
        self.forget()
    }
}
