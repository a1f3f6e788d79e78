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
    ///   - receive: takes what happens, in its order.
    /// - Throws: `unreachable`, or `refused`.
    func open(
        on eventLoop: EventLoop,
        receive: @escaping @Sendable (TransportEvent) -> Void
    ) async throws(RoutingError)

    /// Has the messages to a subject come; of subscribers with one queue, a message comes to one.
    func subscribe(_ subject: String, queue: String?)

    /// Ends a subscription; what the server has sent before it knows still comes.
    func unsubscribe(_ subject: String)

    /// Sends a message.
    ///
    /// What nodes say of each other and of their requests is small, and is not lost with what waits.
    ///
    /// - Returns: False if too many messages wait to be sent already.
    func publish(
        _ subject: String,
        reply: String?,
        _ payload: [UInt8],
        headers: [(name: String, value: String)]
    ) -> Bool

    /// Waits until the server has had what was asked for before, and what it has sent before that has been
    /// received.
    func flush() async

    /// Closes the connection; nothing comes afterwards.
    func close() async
}

extension ClusterTransport {
    /// Sends a message without headers.
    package func publish(_ subject: String, reply: String?, _ payload: [UInt8]) -> Bool {
        self.publish(subject, reply: reply, payload, headers: [])
    }
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

/// A message that has come.
package struct TransportMessage: Sendable {
    package let subject: String
    package let reply: String?
    package let payload: [UInt8]
    /// Names as they came, and values.
    package let headers: [(name: String, value: String)]
    /// How many messages follow that have come with it, as one; the reply subject is that of the last.
    package var following = 0

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
