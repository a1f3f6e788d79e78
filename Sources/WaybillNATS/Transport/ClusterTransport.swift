package import WaybillEventLoop
package import WaybillRouting

/// Carries the messages of a cluster between its nodes: publishes them, and has those that are subscribed to
/// come on a loop.
///
/// A node's own messages do not come back to it. No function blocks, and none but ``open(on:receive:)`` and
/// what waits for it suspends for longer than the server takes.
package protocol ClusterTransport: Sendable {
    /// The most bytes of a message; known once it is open.
    var payloadLimit: Int { get }

    /// Connects.
    ///
    /// - Parameters:
    ///   - eventLoop: where `receive` is called.
    ///   - receive: takes what happens, in its order. It returns false if it has to be called with the same
    ///     again, once the loop has polled.
    /// - Throws: `unreachable`, or `refused`.
    func open(
        on eventLoop: EventLoop,
        receive: @escaping @Sendable (TransportEvent) -> Bool
    ) async throws(RoutingError)

    /// Has the messages to a subject come; of subscribers with one queue, a message comes to one.
    func subscribe(_ subject: String, queue: String?)

    /// Ends a subscription; what the server has sent before it knows still comes.
    func unsubscribe(_ subject: String)

    /// Sends a message.
    ///
    /// - Parameters:
    ///   - subject: Where to.
    ///   - reply: Where its answer goes.
    ///   - payload: The message.
    ///   - envelope: What stands around it. Neighbours to one subject with the same envelope go as one.
    ///   - headers: What stands beside it; then there is no envelope.
    ///   - purpose: What it is for.
    /// - Returns: False if too many messages wait to be sent already.
    func publish(
        _ subject: String,
        reply: ReplySubject?,
        _ payload: [UInt8],
        in envelope: MessageEnvelope?,
        headers: [(name: String, value: String)],
        as purpose: MessagePurpose
    ) -> Bool

    /// Waits until the server has had what was asked for before, and what it has sent before that has been
    /// received.
    func flush() async

    /// Closes the connection; nothing comes afterwards.
    func close() async
}

extension ClusterTransport {
    /// Sends a message that goes by itself.
    package func publish(
        _ subject: String,
        reply: ReplySubject?,
        _ payload: [UInt8],
        as purpose: MessagePurpose
    ) -> Bool {
        self.publish(subject, reply: reply, payload, in: nil, headers: [], as: purpose)
    }
}

/// The subject that the answer to a message goes to.
package enum ReplySubject: Sendable {
    case plain(String)
    /// One of many that differ by a number; of those that go as one with others, most become no text.
    case numbered(String, Int)

    package var text: String {
        switch self {
        case .plain(let text): text
        case .numbered(let prefix, let number): prefix + String(number)
        }
    }
}

/// What a message is for, which decides what becomes of it when many wait.
package enum MessagePurpose: Sendable {
    case publication
    case request
    /// What a node says of requests, its own or those of another one; what is small is not lost with what
    /// waits.
    case dialog
    /// What nodes say of themselves, which is not lost.
    case membership
}

/// What stands around a message, or around several to one subject that go as one, with commas between them.
package struct MessageEnvelope: Sendable, Equatable {
    let start: [UInt8]
    let end: [UInt8]

    /// Messages of JSON-RPC go as an array.
    static let array = Self(start: [UInt8(ascii: "[")], end: [UInt8(ascii: "]")])

    /// How many bytes it has.
    var size: Int { self.start.count + self.end.count }

    /// A message in it.
    package func with(_ message: [UInt8]) -> [UInt8] { self.start + message + self.end }
}

/// What a transport tells its node.
package enum TransportEvent: Sendable {
    case message(TransportMessage)
    /// No subscriber takes what was published, or it could not be sent; with its reply subject.
    case undelivered(reply: String, reason: Undelivered)
    /// Messages have been lost on their way to this node, since it is too slow.
    case overflow
    /// The same, and all of them were publications.
    case publicationOverflow
    case connected
    case disconnected(String)
    /// The server has objected to something, such as a subject that the user may not subscribe to.
    case problem(String)
    /// The server is about to shut down, and clients go to another one.
    case lameDuck

    package enum Undelivered: Sendable {
        case noSubscriber
        /// With what was to be sent, as it would have come, and why it was not.
        case notSent(TransportMessage, String)
    }
}

/// A message that has come; of several that have gone out as one, the reply subject is that of the last.
package struct TransportMessage: Sendable {
    package let subject: String
    package let reply: String?
    package let payload: [UInt8]
    /// Names as they came, and values.
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

    /// How many bytes headers take on their way: a line for the version, one for each, and an empty one.
    package static func size(of headers: [(name: String, value: String)]) -> Int {
        guard !headers.isEmpty else { return 0 }
        let ends = "NATS/1.0\r\n\r\n".utf8.count
        return headers.reduce(ends) { $0 + $1.name.utf8.count + $1.value.utf8.count + ": \r\n".utf8.count }
    }
}
