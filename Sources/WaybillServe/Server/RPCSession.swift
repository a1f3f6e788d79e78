package import Logging
package import Waybill
package import WaybillDocuments
package import WaybillEventLoop
internal import WaybillJSON
internal import WaybillRouting

/// The session of one peer, which calls the bus for the peer's messages and sends the answers.
///
/// A session runs on the loop of the bus. If the handler of a request runs on the same loop and does not
/// suspend, the session answers the request before it reads the next message. ``ServedRequests`` decides
/// which requests are admitted and which answers are sent, and this actor performs the I/O. The peer is at
/// the other end of a ``ServedConnection``, which reads its messages, or is a node or a client in a cluster.
package actor RPCSession: LoopBound {
    package nonisolated let eventLoop: EventLoop
    let bus: MessageBus
    let limits: RPCServer.Limits
    let logger: Logger
    let origin: MessageOrigin
    let audience: Audience
    /// Whether the peer receives values with the names of their types.
    let tellsTypes: Bool
    let channel: any RPCChannel
    /// The connection of the peer to a server; nil if the peer is in a cluster.
    let connection: ServedConnection?
    let document: LiveDocument
    /// Whether the peer is a known node of a cluster, whose end this process notices.
    let isOfMember: Bool

    var requests: ServedRequests
    /// The tasks of requests whose handlers have suspended.
    var tasks: [ServedRequests.Number: Task<Void, Never>] = [:]
    /// The handlers that wait for an answer to a progress reply.
    var awaitedAnswers: [ServedRequests.Number: AwaitedAnswer] = [:]
    var subscriptions: [Int: Task<Void, Never>] = [:]
    var lastSubscription = 0
    /// The work of the requests that have begun and have not been answered.
    var openWork: [ServedRequests.Number: ExternalWork] = [:]
    /// The peer of all messages without a response.
    ///
    /// The peer is stored because each message of a stream of publications needs it.
    private(set) lazy var peerWithoutID = self.peer(nil)
    /// The number of publications from notifications that have not reached every subscriber yet.
    var unawaitedPublications = 0
    /// The size of the publications in ``unawaitedPublications``, in bytes.
    var unawaitedBytes = 0
    var phase = Phase.open

    enum Phase {
        case open
        /// The session accepts no more requests, and closes the connection when all requests have been
        /// answered.
        case draining
        case closed
    }

    /// Creates a session for a connection to a server.
    init(_ stream: StreamConnection, of server: RPCServerCore) {
        self.eventLoop = server.eventLoop
        self.bus = server.bus
        self.limits = server.configuration.limits
        self.logger = server.configuration.logger
        self.document = server.document
        self.audience = .peers
        self.tellsTypes = false
        self.isOfMember = false
        let connection = ServedConnection(stream, of: server)
        self.channel = connection.channel
        self.connection = connection
        self.requests = ServedRequests(self.limits)
        self.origin = MessageOrigin(stream)
    }

    /// Creates a session for a node of a cluster, or for a client that is on the same network as the nodes.
    ///
    /// The owner of the session passes each message of the peer to ``receive(_:recording:)``.
    package init(
        _ bus: MessageBus,
        node origin: MessageOrigin,
        tellsTypes: Bool,
        isOfMember: Bool,
        limits: RPCServer.Limits,
        logger: Logger,
        document: LiveDocument,
        makeChannel: @Sendable () -> any RPCChannel
    ) {
        self.eventLoop = bus.eventLoop
        self.bus = bus
        self.limits = limits
        self.logger = logger
        self.document = document
        self.audience = .nodes
        self.tellsTypes = tellsTypes
        self.isOfMember = isOfMember
        self.channel = makeChannel()
        self.connection = nil
        self.requests = ServedRequests(limits)
        self.origin = origin
    }

    /// Whether the peer has no open requests, subscriptions or publications.
    package var isIdle: Bool {
        self.requests.isEmpty && self.subscriptions.isEmpty && self.unawaitedPublications == 0
    }

    /// Cancels all requests and subscriptions of the peer, because the peer is disconnected.
    func abandon() {
        self.phase = .closed
        let count = self.requests.abandonAll()
        for task in self.tasks.values { task.cancel() }
        for task in self.subscriptions.values { task.cancel() }
        for work in self.openWork.values { work.endPart() }
        self.connection?.leave(abandoning: count, in: self)
        self.openWork = [:]
        self.tasks = [:]
        self.subscriptions = [:]
    }

    /// Fails the unanswered requests with `unreachable`, and then cancels them.
    ///
    /// A peer that is still connected receives the failures.
    package func failAll(_ reason: String) {
        let error = RoutingError(.unreachable, message: reason)
        for number in self.requests.all { self.fail(number, with: RPCFailure(wholly: error)) }
        self.abandon()
    }

    func metadata(_ reason: String) -> Logger.Metadata {
        ["reason": "\(reason)", "peer": "\(self.channel.peer)"]
    }
}

extension MessageOrigin {
    fileprivate init(_ connection: StreamConnection) {
        if let user = connection.peerUserID {
            self.init(transport: "unix", userID: user)
        } else {
            self.init(transport: "tcp", peer: "\(connection.peer)")
        }
    }
}
