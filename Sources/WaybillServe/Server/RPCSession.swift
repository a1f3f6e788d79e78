package import Logging
package import Waybill
package import WaybillDocuments
package import WaybillEventLoop
internal import WaybillRouting

/// The requests of one peer. A session reads messages, passes them to the bus, and writes answers.
///
/// It runs on the loop of the bus, so a request to a handler there that cannot suspend is answered before the
/// next request is read. ``ServedRequests`` decides which requests are admitted and which answers are due,
/// and this actor acts. The peer is at the other end of a connection, or of another kind of ``RPCChannel``.
package actor RPCSession: LoopBound {
    package nonisolated let eventLoop: EventLoop
    let bus: MessageBus
    let limits: RPCServer.Limits
    let logger: Logger
    let origin: MessageOrigin
    let audience: Audience
    /// Whether values for the peer come with the names of their types.
    let tellsTypes: Bool
    let channel: any RPCChannel
    /// The channel, if it is a connection; otherwise nil.
    private let connection: FrameChannel?
    let ledger: ServerLedger
    let document: LiveDocument
    let token: BearerToken?

    var requests: ServedRequests
    /// The state that all connections of the server share; nil for a peer without a connection.
    let load: ServerLoad?
    private(set) lazy var connectionNumber = self.load?.assumeOnLoop { $0.open(self) } ?? 0
    /// The calls and messages that wait for a turn of this connection.
    var waitingCalls = WaitingCalls()
    /// The number of waiting calls that have given their places back until the peer has read its answers.
    var pausedCalls = 0
    /// The requests that have a place among the running calls.
    var running: Set<ServedRequests.Number> = []
    /// The tasks of requests that could not be answered at once.
    var tasks: [ServedRequests.Number: Task<Void, Never>] = [:]
    /// The handlers that wait for an answer to a progress reply.
    var awaitedAnswers: [ServedRequests.Number: AwaitedAnswer] = [:]
    var subscriptions: [Int: Task<Void, Never>] = [:]
    var lastSubscription = 0
    /// The peer of all notifications, of which a stream of publications has many.
    private(set) lazy var peerOfNotifications = self.peer(nil)
    /// The publications that came as notifications and have not reached every subscriber.
    var unawaitedPublications = 0
    /// The size of these publications.
    var unawaitedBytes = 0
    private var bucket: TokenBucket
    /// The number of messages so far.
    private var messages = 0
    var phase: Phase
    private let openedAt: ContinuousClock.Instant

    enum Phase {
        /// The peer has yet to send its token.
        case unauthenticated
        /// The peer has yet to send its first message.
        case silent
        case open
        /// New requests are rejected. The connection is closed when the requests in flight have been
        /// answered.
        case draining
        case closed
    }

    /// The maximum size of a message before the peer has sent its token, in bytes.
    private static let unauthenticatedFrameSize = 4096

    init(_ connection: StreamConnection, of server: RPCServerCore) {
        self.eventLoop = server.eventLoop
        self.bus = server.bus
        self.limits = server.configuration.limits
        self.logger = server.configuration.logger
        self.ledger = server.ledger
        self.document = server.document
        self.token = server.configuration.token.map { BearerToken($0) }
        self.audience = .peers
        self.tellsTypes = false
        let needsToken = self.token != nil
        let channel = FrameChannel(
            connection,
            limit: needsToken
                ? min(Self.unauthenticatedFrameSize, self.limits.frameSize) : self.limits.frameSize
        )
        self.channel = channel
        self.connection = channel
        self.requests = ServedRequests(self.limits)
        self.load = server.load
        let now = server.eventLoop.time.instant
        self.openedAt = now
        self.bucket = TokenBucket(perSecond: self.limits.requestsPerSecond, at: now)
        self.phase = self.token == nil ? .silent : .unauthenticated
        self.origin = MessageOrigin(connection)
    }

    /// Creates a session for a node, or a client of the nodes' network, whose messages come to
    /// ``receive(_:)``.
    package init(
        _ bus: MessageBus,
        node origin: MessageOrigin,
        tellsTypes: Bool,
        limits: RPCServer.Limits,
        logger: Logger,
        document: LiveDocument,
        makeChannel: @Sendable () -> any RPCChannel
    ) {
        self.eventLoop = bus.eventLoop
        self.bus = bus
        self.limits = limits
        self.logger = logger
        self.ledger = ServerLedger()
        self.document = document
        self.token = nil
        self.audience = .nodes
        self.tellsTypes = tellsTypes
        self.channel = makeChannel()
        self.connection = nil
        self.requests = ServedRequests(limits)
        self.load = nil
        self.openedAt = bus.eventLoop.time.instant
        self.bucket = TokenBucket(perSecond: limits.requestsPerSecond, at: self.openedAt)
        self.phase = .open
        self.origin = origin
    }

    /// Tells a peer that it is not admitted, and closes the connection.
    static func refuse(_ connection: StreamConnection, _ failure: RPCFailure) {
        Task {
            try? await connection.write(FrameReader.Framing.lines.frame(Self.answer(to: .null, failure)))
            connection.close()
        }
    }

    /// Serves the peer until it is gone, or the task is cancelled, which waits for nothing.
    func run() async {
        guard let connection = self.connection?.connection else { return }
        await withTaskCancellationHandler {
            await self.serve()
        } onCancel: {
            connection.abort()
        }
    }

    private func serve() async {
        do {
            while let frame = try await self.connection?.next(isFlushing: true) {
                let limit = self.limits.messagesPerBatch
                let read = RPCFrame(frame, depth: self.limits.depth, batchLimit: limit)
                try await self.receiveInTurn(read)
                if self.phase == .closed { break }
            }
        } catch let error as FrameError {
            self.logger.notice("a peer is cut off", metadata: self.metadata(error.message))
            let code = error.isTooLarge ? RPCFailure.invalidRequest : RPCFailure.parseError
            self.send(Self.answer(to: .null, RPCFailure(code: code, message: error.message)), to: .null)
            await self.channel.flush()
        } catch {
            self.logger.debug("a connection ended", metadata: self.metadata("\(error)"))
        }
        await self.channel.flush()
        // Many connections that end at once must not keep the loop from the others.
        await EventLoop.yieldIfDue()
        self.abandon()
        self.channel.close()
    }

    /// Takes a frame, and each message of it when the connection may have the next one handled.
    private func receiveInTurn(_ frame: RPCFrame) async throws {
        try await self.awaitTurn()
        let batch = self.begin(frame)
        for (index, message) in frame.messages.enumerated() {
            if index > 0 { try await self.awaitTurn() }
            self.handle(message, batch: batch)
        }
    }

    /// Waits until the next message may be handled: at the peer's rate, when it has read most of its answers,
    /// and when the loop has polled if its budget is used up.
    private func awaitTurn() async throws {
        if let delay = self.bucket.take(at: self.eventLoop.time.instant) {
            await self.channel.flush()
            try await self.eventLoop.clock.sleep(for: delay)
        }
        if self.channel.unsentBytes > self.limits.unreadBytes { await self.channel.flush() }
        self.messages &+= 1
        // The budget is the loop's: a connection that used it up alone would have the others wait for all of
        // it.
        if self.messages.isMultiple(of: Self.messagesPerTurn) {
            await self.eventLoop.yield()
        } else {
            await EventLoop.yieldIfDue()
        }
    }

    /// The number of messages after which the other connections have a turn.
    private static let messagesPerTurn = 2

    /// The peer has sent its token: it may send messages of any size that the limits allow.
    func liftFrameLimit() { self.connection?.setLimit(self.limits.frameSize) }

    /// The peer is gone: cancels whatever it has asked for.
    package func abandon() {
        self.emptyWaitingCalls()
        self.phase = .closed
        let count = self.requests.abandonAll()
        self.ledger.note { $0.abandoned += count }
        for task in self.tasks.values { task.cancel() }
        for task in self.subscriptions.values { task.cancel() }
        let (connection, subscriptions) = (self.connectionNumber, self.subscriptions.count)
        self.load?.assumeOnLoop { $0.close(connection, subscriptions: subscriptions) }
        self.running = []
        self.tasks = [:]
        self.subscriptions = [:]
    }

    /// Cancels all requests of the peer, and tells the peer, which may still be there.
    package func abandon(_ reason: String) {
        let error = RoutingError(.unreachable, message: reason)
        for number in self.requests.all { self.finish(number, with: RPCFailure(wholly: error)) }
        self.abandon()
    }

    func metadata(_ reason: String) -> Logger.Metadata {
        ["reason": "\(reason)", "peer": "\(self.channel.peer)"]
    }
}

// How a connection ends from this side.
extension RPCSession {
    /// Rejects new requests, and closes the connection when the requests in flight have been answered.
    package func drain() {
        guard self.phase != .closed else { return }
        self.phase = .draining
        self.closeIfDrained()
    }

    /// Whether nothing is owed to the peer.
    package var isIdle: Bool {
        self.requests.isEmpty && self.subscriptions.isEmpty && self.unawaitedPublications == 0
    }

    func closeIfDrained() {
        guard self.phase == .draining, self.requests.isEmpty, self.waitingCalls.isEmpty else { return }
        self.phase = .closed
        // Written bytes are still sent, and a task that reads ends.
        Task {
            await self.channel.flush()
            self.channel.close()
        }
    }

    /// The size of the unread answers in bytes, including answers that batches keep back.
    var unreadBytes: Int { self.channel.unsentBytes + self.requests.batchBytes }

    /// Since when the peer has taken nothing of the bytes that wait for it; nil when none wait.
    func stalledSince(at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        self.connection?.stalledSince(at: now)
    }

    /// Closes the connection at once; requests in flight are cancelled.
    func end(_ reason: String) {
        guard !self.channel.isClosed else { return }
        self.logger.info("a connection is closed", metadata: self.metadata(reason))
        self.phase = .closed
        self.channel.abort()
    }

    /// Closes the connection if the peer takes longer than it may.
    func endIfOverdue(at now: ContinuousClock.Instant) {
        if let reason = self.overdue(at: now) { self.end(reason) }
    }

    private func overdue(at now: ContinuousClock.Instant) -> String? {
        guard let connection = self.connection else { return nil }
        if let since = connection.stalledSince(at: now) {
            // Nothing more is read from it either, so no other time passes.
            return now - since > self.limits.stallTime ? "it does not read" : nil
        }
        if let wait = connection.partialFrameWait, wait > self.limits.messageTime {
            return "it has not sent the end of its message"
        }
        if self.phase == .unauthenticated || self.phase == .silent {
            return now - self.openedAt > self.limits.messageTime ? "it has not sent a message" : nil
        }
        guard let idleTime = self.limits.idleTime, self.requests.isEmpty, self.subscriptions.isEmpty else {
            return nil
        }
        return now - connection.lastReceived > idleTime ? "it is idle" : nil
    }
}

extension FrameError {
    fileprivate var isTooLarge: Bool { if case .tooLarge = self { true } else { false } }
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
