internal import Logging
internal import Synchronization
internal import Waybill
internal import WaybillDocuments
internal import WaybillEventLoop
internal import WaybillJSON
internal import WaybillRouting
internal import WaybillServe

/// The implementation of a node, as an actor on the loop of its bus.
///
/// ``ClusterState`` tracks the other nodes and decides the actions. This actor performs the I/O.
actor ClusterCore: RPCCaller {
    nonisolated let eventLoop: EventLoop
    nonisolated let bus: MessageBus
    nonisolated let transport: any ClusterTransport
    nonisolated let subjects: Subjects
    /// The prefix of the subjects on which this node receives answers.
    let inboxPrefix: String
    nonisolated let realm: String
    nonisolated let configuration: ClusterNode.Configuration
    nonisolated let id = NodeID.random()
    /// The `source` attribute of the events that this node sends.
    nonisolated let eventSource: String
    /// The state of the other nodes, which callers on any thread read while they hold locks of the bus.
    nonisolated let state: Locked<ClusterState>
    nonisolated let ledger = Locked(ClusterNode.Statistics())
    nonisolated let tally = EndpointTally()
    nonisolated let document: LiveDocument
    /// The limits on the requests of all nodes and clients.
    nonisolated let budget: RequestBudget
    /// The description for the NATS services API; nil when the configuration disables the API.
    nonisolated let service: ServiceDescription?
    /// The signal that makes ``run()`` leave the cluster.
    private nonisolated let leaving = LeaveSignal()
    private nonisolated let isAnnouncementDue = Atomic<Bool>(false)

    var pending = PendingRequests()
    var requests: [Int: SentRequest] = [:]
    /// The sessions with the nodes and clients that send requests to this node.
    var sessions: [Peer: RPCSession] = [:]
    /// The callers that wait for the state of other nodes.
    var refreshes: [Int: Refresh] = [:]
    var lastRefresh = 0
    var offer = ClusterOffer()
    var lastPublication = 0
    /// The writer of the latest publication, which is kept to reuse its memory.
    var writer: JSONWriter?
    var latestTopic: PublishedTopic?
    /// The numbers of the latest publications from each node.
    var publicationsSeen: [NodeID: RecentNumbers] = [:]
    /// The publications of one message that have not been handled yet, with their sender.
    var publications: (rest: RPCPublications, peer: Peer)?
    /// The events whose handlers are running.
    var runningEvents: [Int: RunningEvent] = [:]
    var lastEvent = 0
    var isConnected = false
    /// The latest forged announcement in this node's name that this node has not corrected yet.
    var dispute: Dispute?
    /// The limit on how far this node's epoch follows the epochs that other parties announce in its name.
    var epochBudget = EpochBudget()
    /// The time at which a forged announcement was last logged.
    var disputeLoggedAt: ContinuousClock.Instant?
    /// The reason why this node cannot send messages, or nil when it can send messages.
    var obstacle: String? {
        if self.phase == .left { return "this node has left the cluster" }
        return self.isConnected ? nil : "there is no connection to a server"
    }
    /// The time at which the connection was restored; nil if the connection was never lost.
    var reconnectedAt: ContinuousClock.Instant?
    private var registration: Registration?
    private var readinessCheck: ReadinessCheck?
    private var phase = Phase.apart
    /// The task that joins the cluster, whose result all callers of ``start()`` receive.
    private var joining: Task<Void, any Error>?
    /// Whether ``run()`` was called and has not returned.
    private var isRunning = false
    private var watch: ScheduledTimer?
    private var lastWatch: ContinuousClock.Instant?

    /// The node or client at the other end of a session.
    enum Peer: Hashable {
        /// A node, whose requests are all in one session.
        case node(NodeID)
        /// A client that is not a node, identified by its reply subject; each request is a session.
        case client(ExactText)
    }

    private enum Phase {
        /// The node has not joined.
        case apart
        case member
        /// The node accepts no more requests, and continues to send messages until its earlier requests are
        /// answered.
        case leaving
        /// The node sends no more messages, because it would not receive an answer.
        case left
    }

    /// A request to several nodes for their current state.
    struct Refresh {
        /// The nodes that have not answered yet.
        var missing: Set<NodeID>
        let waiter: SuspendedTask
    }

    /// A request that waits for its reply or failure.
    struct SentRequest {
        let shape: PatternShape
        let sentAt: ContinuousClock.Instant
        /// The node that handles the request; nil before the first message from that node.
        var node: NodeID?
    }

    init(
        _ bus: MessageBus,
        realm: String,
        transport: any ClusterTransport,
        configuration: ClusterNode.Configuration
    ) {
        self.eventLoop = bus.eventLoop
        self.bus = bus
        self.transport = transport
        let subjects = Subjects(realm: realm)
        self.subjects = subjects
        self.inboxPrefix = subjects.inboxPrefix(of: self.id)
        // Several nodes may have the same name, and the message IDs of each node start at the same value. The
        // ID of the node makes the source unique.
        self.eventSource = "/\(Subjects.token(realm))/\(Subjects.token(configuration.name))/\(self.id)"
        self.realm = realm
        self.configuration = configuration
        self.budget = RequestBudget(
            nodes: .init(count: configuration.requestsOfNodes, size: configuration.requestBytesOfNodes),
            clients: .init(count: configuration.requestsOfClients, size: configuration.requestBytesOfClients)
        )
        self.service =
            configuration.answersServiceRequests
            ? ServiceDescription(configuration, id: self.id, realm: realm) : nil
        self.state = Locked(ClusterState(own: self.id, table: bus.clusterTable()))
        self.document = LiveDocument(of: bus, scope: .exposed)
    }

    nonisolated var now: ContinuousClock.Instant { self.eventLoop.time.instant }

    /// Whether the node has joined and has not begun to leave.
    var isMember: Bool { self.phase == .member }

    /// Whether the connection was restored in the last two seconds.
    ///
    /// Other nodes have then possibly not reconnected yet.
    var isReturning: Bool { self.reconnectedAt.map { self.now - $0 < .seconds(2) } ?? false }

    func note(_ change: (inout ClusterNode.Statistics) -> Void) { self.ledger.withLock { change(&$0) } }
}

// Joining and leaving.
extension ClusterCore {
    func start() async throws {
        guard self.phase == .apart || self.phase == .member else {
            throw RoutingError(
                .refused,
                message: "this node has left the cluster: create another node to join again"
            )
        }
        // Use a detached task. The connection must not inherit the task-local values of the caller.
        let joining = self.joining ?? Task.detached { try await self.join() }
        self.joining = joining
        try await joining.value
    }

    private func join() async throws {
        do throws(RoutingError) {
            try await self.transport.open(on: self.eventLoop) { [weak self] event in
                self?.assumeOnLoop { $0.receive(event) } ?? true
            }
        } catch {
            self.joining = nil
            throw error
        }
        self.phase = .member
        self.isConnected = true
        do throws(RoutingError) {
            self.registration = try self.bus.join(ClusterConnector(self)) { [weak self] in
                self?.noteRoutesChanged()
            }
        } catch {
            self.phase = .left
            await self.transport.close()
            throw error
        }
        for subject in [
            self.subjects.nodes, self.subjects.members(self.id), self.subjects.node(self.id),
            self.subjects.inboxes(self.id),
        ] {
            self.transport.subscribe(subject, queue: nil)
        }
        for subject in self.service?.subjects ?? [] { self.transport.subscribe(subject, queue: nil) }
        self.readinessCheck = self.bus.addReadinessCheck("cluster \(self.realm)") { [weak self] in
            await self?.obstacle
        }
        self.updateOffer()
        await self.transport.flush()
        self.announce(.hello)
        self.scheduleBeat()
        try? await self.eventLoop.clock.sleep(for: self.configuration.discoveryTime)
    }

    func run() async throws {
        guard !self.isRunning else {
            throw RoutingError(.refused, message: "this node is already running: call run() only once")
        }
        self.isRunning = true
        defer { self.isRunning = false }
        try await self.start()
        await withGracefulShutdown {
            await self.leaving.wait()
        } onShutdown: {
            self.beginLeaving()
        }
        await self.leave()
    }

    nonisolated func beginLeaving() { self.leaving.fire() }

    /// Announces the departure, rejects new requests, waits for earlier requests, and closes the connection.
    ///
    /// The node sends heartbeats until all requests are answered. After that it is silent, so that the other
    /// nodes fail the requests that it has not answered.
    private func leave() async {
        self.phase = .leaving
        self.announce(.bye)
        for subject in self.service?.subjects ?? [] { self.transport.unsubscribe(subject) }
        for subject in self.offer.subjects { self.transport.unsubscribe(subject) }
        self.offer.subjects = []
        await self.transport.flush()
        let limit = self.now + self.configuration.drainLimit
        while !self.isDrained, self.now < limit, !Task.isCancelled {
            try? await self.eventLoop.clock.sleep(for: .milliseconds(5))
        }
        self.watch.take()?.cancel()
        self.lastWatch = nil
        self.phase = .left
        self.loseAll("this node has left the cluster")
        self.registration.take()?.cancel()
        self.readinessCheck.take()?.cancel()
        self.abandonSessions("has left the cluster")
        self.abandonEvents("has left the cluster")
        await self.transport.flush()
        await self.transport.close()
    }

    /// Cancels the requests of other nodes and, unless `ofClients` is false, of clients, and fails them with a
    /// reason.
    func abandonSessions(_ reason: String, ofClients: Bool = true) {
        let text = self.saying(reason)
        for (peer, session) in self.sessions {
            if case .client = peer, !ofClients { continue }
            self.sessions[peer] = nil
            session.assumeOnLoop { $0.failAll(text) }
        }
    }

    /// Returns a sentence that begins with the name and the ID of this node.
    func saying(_ text: String) -> String { "the node \(self.configuration.name) (\(self.id)) \(text)" }

    private var isDrained: Bool {
        self.pending.count == 0 && self.refreshes.isEmpty && self.runningEvents.isEmpty
            && self.publications == nil
            && self.sessions.values.allSatisfy { $0.assumeOnLoop { $0.isIdle } }
    }
}

// The announcements of this node.
extension ClusterCore {
    /// Sends an announcement to a node, or to all nodes.
    ///
    /// A node that leaves announces its departure in place of its routes. Otherwise, a node that joins would
    /// send requests to it.
    func announce(_ kind: Announcement.Kind, to node: NodeID? = nil) {
        let isOffer = kind == .hello || kind == .state
        let kind = isOffer && !self.isMember ? .bye : kind
        var announcement = Announcement(kind, of: self.id)
        announcement.name = self.configuration.name
        announcement.epoch = self.offer.epoch
        announcement.interval = self.interval
        if kind == .hello || kind == .state {
            announcement.routes = Array(self.offer.routes)
            announcement.topics = Array(self.offer.topics)
        }
        self.send(announcement, to: node)
    }

    /// The heartbeat interval, in milliseconds.
    private var interval: Int {
        let longest = Announcement.longestInterval
        let interval = min(self.configuration.heartbeatInterval, .milliseconds(longest))
        return max(1, Int(interval / .milliseconds(1)))
    }

    private func send(_ announcement: Announcement, to node: NodeID?) {
        let subject = node.map { self.subjects.members($0) } ?? self.subjects.nodes
        var bytes = announcement.bytes
        let limit = self.transport.payloadLimit
        if bytes.count > limit {
            self.configuration.logger.error(
                """
                the announcement of the shared routes exceeds the server's size limit for messages: \
                raise max_payload of all servers, or share fewer routes
                """,
                metadata: ["bytes": "\(bytes.count)", "limit": "\(limit)"]
            )
            // The other nodes still have to fail their requests to this node.
            guard announcement.kind == .hello else { return }
            bytes = announcement.withoutPatterns.bytes
        }
        // If the receiving node does not exist, the server reports this to the reply subject. That subject
        // contains the ID of the receiving node.
        let reply = node.map { ReplySubject.plain(self.subjects.asking($0, self.id)) }
        _ = self.transport.publish(subject, reply: reply, bytes, as: .membership)
    }

    /// Schedules one announcement of all route changes of the next millisecond.
    private nonisolated func noteRoutesChanged() {
        guard !self.isAnnouncementDue.exchange(true, ordering: .acquiringAndReleasing) else { return }
        self.eventLoop.schedule(at: Deadline(after: .milliseconds(1), by: self.eventLoop.time)) {
            self.assumeOnLoop { core in
                // Use an exchange and not a store, because an exchange also acquires. The changes before each
                // call that found `true` are visible from here on.
                _ = core.isAnnouncementDue.exchange(false, ordering: .acquiringAndReleasing)
                // A leaving node has already withdrawn its routes.
                guard core.isMember, let change = core.updateOffer() else { return }
                core.send(change, to: nil)
            }
        }
    }

    /// Subscribes to the subjects of the shared routes and topics, and ends old subscriptions.
    ///
    /// The result is the announcement of the change, or nil when the routes and topics have not changed.
    @discardableResult
    private func updateOffer() -> Announcement? {
        let routes = Set(self.bus.exposedRoutes(to: .nodes).map { self.bus.withScheme($0.pattern) })
        let topics = Set(
            self.bus.exposedPatterns(to: .nodes, for: .publishing).map { self.bus.withScheme($0) }
        )
        guard routes != self.offer.routes || topics != self.offer.topics else { return nil }
        self.offer.epoch += 1
        var change = Announcement(.change, of: self.id)
        change.name = self.configuration.name
        change.epoch = self.offer.epoch
        change.interval = self.interval
        change.routes = routes.subtracting(self.offer.routes).sorted()
        change.removedRoutes = self.offer.routes.subtracting(routes).sorted()
        change.topics = topics.subtracting(self.offer.topics).sorted()
        change.removedTopics = self.offer.topics.subtracting(topics).sorted()
        self.offer.routes = routes
        self.offer.topics = topics
        let table = self.bus.clusterTable(of: PatternShape.self)
        let calls = Set(
            routes.compactMap { try? table.pattern($0) }.map { self.subjects.call(PatternShape($0)) }
        )
        let publications = SubjectCover(
            topics.compactMap { try? table.pattern($0) }.flatMap { self.subjects.publications(of: $0) }
        )
        let subjects = calls.union(publications.subjects)
        self.tally.serve(calls)
        for subject in subjects.subtracting(self.offer.subjects) {
            self.transport.subscribe(subject, queue: calls.contains(subject) ? ServiceDescription.queue : nil)
        }
        // Subscribe first, because a new subscription can replace an earlier one.
        for subject in self.offer.subjects.subtracting(subjects) { self.transport.unsubscribe(subject) }
        self.offer.subjects = subjects
        return change
    }

    /// Schedules the next heartbeat, and a further watch for silent nodes half an interval before it.
    ///
    /// A node is dead after a silence of 2.5 intervals, so the other nodes notice its end within 3 intervals.
    private func scheduleBeat() {
        self.afterHalfInterval { core in
            core.dropSilentNodes()
            core.afterHalfInterval { $0.beat() }
        }
    }

    private func afterHalfInterval(_ body: @escaping @Sendable (isolated ClusterCore) -> Void) {
        let deadline = Deadline(after: .milliseconds(self.interval) / 2, by: self.eventLoop.time)
        self.watch = self.eventLoop.schedule(at: deadline) { [weak self] in
            self?.assumeOnLoop { body($0) }
        }
    }

    private func beat() {
        self.scheduleBeat()
        self.announce(.beat)
        self.dropSilentNodes()
        self.sweepSessions()
    }

    private func dropSilentNodes() {
        // While its loop was blocked or it had no server, this node received no messages. The silence of
        // another node then does not mean that the other node is dead.
        let limit = Duration.milliseconds(self.interval) * 1.5
        if let last = self.lastWatch, self.now - last > limit || !self.isConnected {
            self.state.withLock { $0.hearAll(at: self.now) }
        }
        self.lastWatch = self.now
        let (lost, gone) = self.state.withLock { $0.expire(at: self.now) }
        for member in lost {
            self.noteLoss(of: member, "has not sent a heartbeat in time")
            self.lose(member, "has not sent a heartbeat in time")
        }
        for member in gone { self.lose(member, "has left") }
    }
}
