package import Logging
package import Waybill
package import WaybillDocuments
package import WaybillEventLoop
internal import WaybillJSON
internal import WaybillRouting

/// The session of one peer, which reads the peer's messages, calls the bus, and writes answers.
///
/// A session runs on the loop of the bus. If the handler of a request runs on the same loop and does not
/// suspend, the session answers the request before it reads the next message. ``ServedRequests`` decides
/// which requests are admitted and which answers are sent, and this actor performs the I/O. The peer is at
/// the other end of either a connection, which the session reads, or another kind of ``RPCChannel``.
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
    /// The channel of a connection; nil for another kind of channel.
    private let connection: FrameChannel?
    let ledger: ServerLedger
    let document: LiveDocument
    let token: BearerToken?

    var requests: ServedRequests
    /// The resources that the connections of a server share; nil for another kind of channel.
    let load: ServerLoad?
    private(set) lazy var connectionNumber = self.load?.assumeOnLoop { $0.open(self) } ?? 0
    /// The calls and messages that wait for permission to run.
    var waitingCalls = WaitingCalls()
    /// The number of waiting calls that have given their places back until the peer has read its answers.
    var pausedCalls = 0
    /// The requests that have a place, which is the permission to run (see ``CallTurns``).
    var running: Set<ServedRequests.Number> = []
    /// The tasks of requests whose handlers have suspended.
    var tasks: [ServedRequests.Number: Task<Void, Never>] = [:]
    /// The handlers that wait for an answer to a progress reply.
    var awaitedAnswers: [ServedRequests.Number: AwaitedAnswer] = [:]
    var subscriptions: [Int: Task<Void, Never>] = [:]
    var lastSubscription = 0
    /// The peer of all notifications.
    ///
    /// The peer is stored because each message of a stream of publications needs it.
    private(set) lazy var peerOfNotifications = self.peer(nil)
    /// The number of publications from notifications that have not reached every subscriber yet.
    var unawaitedPublications = 0
    /// The size of the publications in ``unawaitedPublications``, in bytes.
    var unawaitedBytes = 0
    /// The size of the frame that is being received or handled, in bytes; 0 for a small frame.
    var frameBytes = 0
    /// The number of bytes that this session has reported to the counter of the whole server.
    var countedBytes = 0
    /// The remaining messages of a `$/publish` notification, which the reading task publishes next.
    var unpublished: RPCPublications?
    /// Whether the task that reads the connection is handling a message, after which the task can suspend.
    private(set) var isReading = false
    var bucket: TokenBucket
    /// The number of messages that have been handled.
    private var messages = 0
    var phase: Phase
    private let openedAt: ContinuousClock.Instant

    enum Phase {
        /// The peer has not sent its token yet.
        case unauthenticated
        /// The peer has not sent a message yet, and needs no token.
        case silent
        case open
        /// The session accepts no more requests, and closes the connection when all requests have been
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

    /// Creates a session for a node of a cluster, or for a client that is on the same network as the nodes.
    ///
    /// The owner of the session passes each message of the peer to ``receive(_:recording:)``.
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

    /// Sends a peer the reason for its rejection, and closes the connection.
    static func refuse(_ connection: StreamConnection, _ failure: RPCFailure) {
        Task {
            try? await connection.write(FrameReader.Framing.lines.frame(Self.answer(to: .null, failure)))
            connection.close()
        }
    }

    /// Serves the peer until the peer disconnects or the task is cancelled.
    ///
    /// The cancellation of the task closes the connection at once.
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
            while let frame = try await self.connection?.next(
                isFlushing: true,
                checkingPart: { size throws(FrameError) in try self.checkPart(of: size) }
            ) {
                self.setFrameBytes(frame.range.count)
                let limit = self.limits.messagesPerBatch
                let read = RPCFrame(frame, depth: self.limits.depth, batchLimit: limit)
                try await self.receiveInTurn(read)
                self.setFrameBytes(0)
                if self.phase == .closed { break }
            }
        } catch let error as FrameError {
            self.logger.notice(
                "closed the connection of a peer whose messages cannot be read",
                metadata: self.metadata(error.message)
            )
            self.send(Self.answer(to: .null, error.failure), to: .null)
            await self.channel.flush()
        } catch {
            self.logger.debug("a connection ended", metadata: self.metadata("\(error)"))
        }
        await self.channel.flush()
        // The end of many connections at the same time must not block the loop.
        await EventLoop.yieldIfDue()
        self.abandon()
        self.channel.close()
    }

    /// Handles the messages of a frame.
    ///
    /// Before each message, the method waits until the limits of the server allow another message.
    private func receiveInTurn(_ frame: RPCFrame) async throws {
        try await self.awaitTurn()
        let batch = self.beginBatch(frame)
        for (index, message) in frame.messages.enumerated() {
            if index > 0 { try await self.awaitTurn() }
            self.isReading = true
            self.handle(message, batch: batch)
            self.isReading = false
            await self.publishInTurn()
        }
    }

    /// Publishes the remaining messages of a `$/publish` notification.
    ///
    /// Before each message, the method waits until the limits of the server allow another message.
    private func publishInTurn() async {
        guard var rest = self.unpublished else { return }
        while !rest.isEmpty {
            // The wait throws when the session ends. The messages were accepted before, so publish them
            // nevertheless.
            try? await self.awaitTurn()
            self.publishAccepted(of: &rest)
        }
        self.unpublished = nil
        self.closeIfDrained()
    }

    /// Waits until the next message may be handled.
    ///
    /// The method waits if the peer has sent too many messages or has not read enough of its answers. If the
    /// loop's budget is used up, the loop polls first.
    private func awaitTurn() async throws {
        if let delay = self.bucket.take(at: self.eventLoop.time.instant) {
            await self.channel.flush()
            try await self.eventLoop.clock.sleep(for: delay)
        }
        if self.channel.unsentBytes > self.limits.unreadBytes { await self.channel.flush() }
        self.messages &+= 1
        // All connections share the loop's budget. If one connection used up the budget, it would delay the
        // others.
        if self.messages.isMultiple(of: Self.messagesPerTurn) {
            await self.eventLoop.yield()
        } else {
            await EventLoop.yieldIfDue()
        }
    }

    /// The number of messages after which the session yields to the other connections.
    private static let messagesPerTurn = 2

    /// Raises the limit on the size of messages, because the peer has sent its token.
    func liftFrameLimit() { self.connection?.setLimit(self.limits.frameSize) }

    /// Cancels all requests and subscriptions of the peer, because the peer is disconnected.
    package func abandon() {
        self.emptyWaitingCalls()
        self.phase = .closed
        let count = self.requests.abandonAll()
        self.setFrameBytes(0)
        self.ledger.note { $0.abandoned += count }
        for task in self.tasks.values { task.cancel() }
        for task in self.subscriptions.values { task.cancel() }
        let (connection, subscriptions) = (self.connectionNumber, self.subscriptions.count)
        self.load?.assumeOnLoop { $0.close(connection, subscriptions: subscriptions) }
        self.running = []
        self.tasks = [:]
        self.subscriptions = [:]
    }

    /// Fails the unanswered requests with `unreachable`, and then cancels them.
    ///
    /// A peer that is still connected receives the failures.
    package func abandon(_ reason: String) {
        let error = RoutingError(.unreachable, message: reason)
        for number in self.requests.all { self.fail(number, with: RPCFailure(wholly: error)) }
        self.abandon()
    }

    func metadata(_ reason: String) -> Logger.Metadata {
        ["reason": "\(reason)", "peer": "\(self.channel.peer)"]
    }
}

extension RPCSession {
    /// Stops accepting requests, and closes the connection when all accepted requests have been answered.
    package func drain() {
        guard self.phase != .closed else { return }
        self.phase = .draining
        self.closeIfDrained()
    }

    /// Whether the peer has no open requests, subscriptions or publications.
    package var isIdle: Bool {
        self.requests.isEmpty && self.subscriptions.isEmpty && self.unawaitedPublications == 0
    }

    func closeIfDrained() {
        guard self.phase == .draining, self.requests.isEmpty, self.waitingCalls.isEmpty,
            self.unpublished == nil
        else { return }
        self.phase = .closed
        // Enqueued messages are still sent. When the channel is closed, the task that reads from the channel
        // ends.
        Task {
            await self.channel.flush()
            self.channel.close()
        }
    }

    /// The size of the answers that the peer has not read, in bytes.
    ///
    /// The size includes the answers of unfinished batches.
    var unreadBytes: Int { self.channel.unsentBytes + self.requests.batchBytes }

    /// Returns the instant since which the peer has not read a byte, or nil when no bytes wait for the peer.
    func stalledSince(at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        self.connection?.stalledSince(at: now)
    }

    /// Closes the connection at once, and cancels the unanswered requests.
    func end(_ reason: String) {
        guard !self.channel.isClosed else { return }
        self.logger.info("a connection is closed", metadata: self.metadata(reason))
        self.phase = .closed
        self.channel.abort()
    }

    /// Closes the connection if the peer exceeds one of its time limits.
    func endIfOverdue(at now: ContinuousClock.Instant) {
        if let reason = self.overdue(at: now) { self.end(reason) }
    }

    private func overdue(at now: ContinuousClock.Instant) -> String? {
        guard let connection = self.connection else { return nil }
        if let since = connection.stalledSince(at: now) {
            // While bytes wait for the peer, the session does not read either, so the other time limits do
            // not apply.
            return now - since > self.limits.stallTime ? "the peer does not read" : nil
        }
        if let wait = connection.partialFrameWait, wait > self.limits.messageTime {
            return "the peer has not sent the end of a message in time"
        }
        if self.phase == .unauthenticated || self.phase == .silent {
            return now - self.openedAt > self.limits.messageTime
                ? "the peer has not sent a message in time" : nil
        }
        guard let idleTime = self.limits.idleTime, self.requests.isEmpty, self.subscriptions.isEmpty else {
            return nil
        }
        return now - connection.lastReceived > idleTime ? "the connection is idle" : nil
    }
}

extension FrameError {
    /// The failure that the peer receives.
    var failure: RPCFailure {
        switch self {
        case .notRPC, .malformedHeader: RPCFailure(code: RPCFailure.parseError, message: self.message)
        case .tooLarge: RPCFailure(code: RPCFailure.invalidRequest, message: self.message)
        case .noRoom: .limit(self.message)
        }
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
