package import WaybillEventLoop
internal import WaybillJSON
package import WaybillRouting

/// The exchange of messages between the nodes of a cluster.
///
/// A transport publishes messages, and passes the messages of its subscriptions to a closure on a loop. A
/// node does not receive its own messages. No method blocks its thread, but ``open(on:receive:)``,
/// ``flush()`` and ``close()`` suspend their caller.
package protocol ClusterTransport: Sendable {
    /// The maximum number of bytes of a message.
    ///
    /// The value is valid after ``open(on:receive:)``.
    var payloadLimit: Int { get }

    /// Connects to a server.
    ///
    /// - Parameters:
    ///   - eventLoop: The loop on which `receive` is called.
    ///   - receive: A closure that handles events in their order. If the closure returns false, a part of the
    ///     message is left. The transport then lets the loop poll, and calls the closure with the event
    ///     `remainder`, so that the closure can continue.
    /// - Throws: A `RoutingError` with the code `unreachable` or `refused`.
    func open(
        on eventLoop: EventLoop,
        receive: @escaping @Sendable (TransportEvent) -> Bool
    ) async throws(RoutingError)

    /// Subscribes to a subject.
    ///
    /// Among subscribers with the same queue, the server delivers each message to one subscriber.
    func subscribe(_ subject: String, queue: String?)

    /// Ends a subscription.
    ///
    /// Messages that the server sends before it has processed this request still arrive.
    func unsubscribe(_ subject: String)

    /// Enqueues a message to be sent.
    ///
    /// - Parameters:
    ///   - subject: The subject of the message.
    ///   - reply: The subject for the answer.
    ///   - payload: The message.
    ///   - envelope: The bytes around the payload. The transport joins consecutive messages with the same
    ///     subject and envelope into one message.
    ///   - headers: The headers of the message. A message with headers has no envelope.
    ///   - purpose: The purpose of the message.
    /// - Returns: false when the queue is full and the message is rejected.
    func publish(
        _ subject: String,
        reply: ReplySubject?,
        _ payload: [UInt8],
        in envelope: MessageEnvelope?,
        headers: [(name: String, value: String)],
        as purpose: MessagePurpose
    ) -> Bool

    /// Waits until the server has processed all earlier calls.
    ///
    /// The messages that the server had sent before have then been received.
    func flush() async

    /// Closes the connection. No event follows.
    func close() async
}

extension ClusterTransport {
    /// Enqueues a message that is never joined with other messages.
    package func publish(
        _ subject: String,
        reply: ReplySubject?,
        _ payload: [UInt8],
        as purpose: MessagePurpose
    ) -> Bool {
        self.publish(subject, reply: reply, payload, in: nil, headers: [], as: purpose)
    }
}

/// The subject for the answer to a message.
package enum ReplySubject: Sendable {
    case plain(String)
    /// A prefix and a number.
    ///
    /// If messages are joined, only the reply subject of the last message is converted to a text.
    case numbered(String, Int)

    package var text: String {
        switch self {
        case .plain(let text): text
        case .numbered(let prefix, let number): prefix + String(number)
        }
    }
}

/// The purpose of a message.
///
/// The purpose determines how much of a full queue the message may use.
package enum MessagePurpose: Sendable {
    case publication
    case request
    /// A message about a request, from the node that sent the request or from the node that handles it.
    ///
    /// A small message is accepted even when publications and requests are rejected.
    case dialog
    /// An announcement of a node about itself.
    ///
    /// The message is always accepted.
    case membership
}

/// The bytes around a message, or around several joined messages to one subject.
///
/// Joined messages are separated by commas.
package struct MessageEnvelope: Sendable, Equatable {
    let start: [UInt8]
    let end: [UInt8]

    /// A JSON array around JSON-RPC messages.
    static let array = Self(start: [UInt8(ascii: "[")], end: [UInt8(ascii: "]")])

    /// The number of bytes in the envelope.
    var size: Int { self.start.count + self.end.count }

    /// Returns a message in the envelope.
    package func with(_ message: [UInt8]) -> [UInt8] { self.start + message + self.end }
}

/// An event that a transport reports to its node.
package enum TransportEvent: Sendable {
    case message(TransportMessage)
    /// The next event for a message of which `receive` has handled only a part.
    case remainder
    /// No subscriber received a message, or the message could not be sent.
    ///
    /// The event contains the reply subject of the message.
    case undelivered(reply: String, reason: Undelivered)
    /// Messages to this node were dropped because the node is too slow.
    ///
    /// Requests and answers are possibly among these messages.
    case overflow
    /// Publications to this node were dropped because the node is too slow.
    ///
    /// No other messages were dropped.
    case publicationOverflow
    case connected
    case disconnected(String)
    /// The server reported an error, such as a subject that the user may not subscribe to.
    case problem(String)
    /// The server did not permit the node to publish to a subject.
    ///
    /// If `isCut` is true, only the beginning of the subject is known.
    case notPermitted(subject: String, isCut: Bool)
    /// The server is about to shut down, and its clients must use another server.
    case lameDuck

    package enum Undelivered: Sendable {
        case noSubscriber
        /// The message in the form in which other nodes would have received it, and the reason for the
        /// failure.
        case notSent(TransportMessage, String)
    }
}

extension TransportEvent {
    /// Creates an event from the server's report that it did not permit a message, or returns nil when the
    /// report has another reason.
    ///
    /// The server quotes the subject in the same way as JSON. libnats cuts long reports off.
    package init?(refusal report: String) {
        guard report.hasBytes(of: "Permissions Violation for Publish to "),
            let start = report.utf8.firstIndex(of: UInt8(ascii: "\""))
        else { return nil }
        let quoted = report[start...]
        let isCut = quoted.utf8.count == 1 || quoted.utf8.last != UInt8(ascii: "\"")
        let text = try? JSONText(validating: Array((isCut ? quoted + "\"" : quoted).utf8))
        guard let subject = text?.string else { return nil }
        self = .notPermitted(subject: subject, isCut: isCut)
    }
}

/// A received message.
///
/// If several messages were joined, the reply subject belongs to the last of them.
package struct TransportMessage: Sendable {
    package let subject: String
    package let reply: String?
    package let payload: [UInt8]
    /// The headers, with the spelling of their names unchanged.
    package let headers: [(name: String, value: String)]

    package init(
        subject: String,
        reply: String?,
        payload: [UInt8],
        headers: [(name: String, value: String)] = []
    ) {
        self.subject = subject
        self.reply = reply
        self.payload = payload
        self.headers = headers
    }

    /// The number of bytes of the payload and the headers.
    var size: Int { self.payload.count + Self.size(of: self.headers) }

    /// Returns the number of bytes that headers add to a message.
    ///
    /// The headers consist of a version line, one line for each header, and an empty line.
    package static func size(of headers: [(name: String, value: String)]) -> Int {
        guard !headers.isEmpty else { return 0 }
        let ends = "NATS/1.0\r\n\r\n".utf8.count
        return headers.reduce(ends) { $0 + $1.name.utf8.count + $1.value.utf8.count + ": \r\n".utf8.count }
    }
}
