internal import Logging
internal import Synchronization
internal import Waybill
internal import WaybillDocuments
internal import WaybillEventLoop
internal import WaybillJSON
internal import WaybillRouting
internal import WaybillServe

/// What a node is made of, on the loop of its bus: ``ClusterState`` knows the others, and this actor acts.
actor ClusterCore: RPCCaller {
    nonisolated let eventLoop: EventLoop
    nonisolated let bus: MessageBus
    nonisolated let transport: any ClusterTransport
    nonisolated let subjects: Subjects
    /// What the subjects begin with where answers come to.
    let inboxPrefix: String
    nonisolated let realm: String
    nonisolated let configuration: ClusterNode.Configuration
    nonisolated let id = NodeID.random()
    /// What events of this node come from.
    nonisolated let eventSource: String
    /// Read by callers on any thread, under locks of the bus.
    nonisolated let state: Locked<ClusterState>
    nonisolated let ledger = Locked(ClusterNode.Statistics())
    nonisolated let tally = EndpointTally()
    nonisolated let document: LiveDocument
    /// The limit for clients that are not nodes.
    nonisolated let clients: ClientBudget
    /// What services are asked, and this node answers; nil if it does not.
    nonisolated let service: ServiceDescription?
    /// Resumes ``run()`` when the node is to leave.
    private nonisolated let leaving = LeaveSignal()
    private nonisolated let isAnnouncementDue = Atomic<Bool>(false)

    var pending = PendingRequests()
    var requests: [Int: SentRequest] = [:]
    /// The conversations with those that send requests.
    var sessions: [Peer: RPCSession] = [:]
    /// Callers that wait for the state of nodes.
    var refreshes: [Int: Refresh] = [:]
    var lastRefresh = 0
    var offer = ClusterOffer()
    var lastPublication = 0
    /// What the latest publication was written with.
    var writer: JSONWriter?
    var latestTopic: PublishedTopic?
    /// The latest publication of each node.
    var publicationsSeen: [NodeID: Int] = [:]
    /// The publications that have come as one and are being handled, and who has sent them.
    var publications: (rest: RPCPublications, peer: Peer)?
    /// Events that came, and are being handled.
    var eventsInFlight = 0
    var isConnected = false
    /// The claim of somebody else that this node has to correct; nil if there is none.
    var dispute: Dispute?
    /// How far this node follows epochs that others claim for it.
    var epochBudget = EpochBudget()
    /// When a dispute was logged last.
    var disputeLoggedAt: ContinuousClock.Instant?
    /// Why nothing can be sent, if so.
    var obstacle: String? {
        if self.phase == .left { return "this node has left the cluster" }
        return self.isConnected ? nil : "there is no connection to a server"
    }
    /// When the connection came back; nil if it has not been lost.
    var reconnectedAt: ContinuousClock.Instant?
    private var registration: Registration?
    private var readinessCheck: ReadinessCheck?
    private var phase = Phase.apart
    private var watch: ScheduledTimer?
    private var lastBeat: ContinuousClock.Instant?

    /// The other side of a conversation.
    enum Peer: Hashable {
        /// A node: all its requests are one conversation.
        case node(NodeID)
        /// A client that is no node, by where its answer goes: each of its requests is a conversation.
        case client(ExactText)
    }

    private enum Phase {
        /// It has not joined.
        case apart
        case member
        /// It takes no more requests, and goes on sending until those that it has are answered.
        case leaving
        /// It sends nothing any more, since no answer would come.
        case left
    }

    /// The question what some nodes share now.
    struct Refresh {
        /// Those that have not answered.
        var missing: Set<NodeID>
        let waiter: SuspendedTask
    }

    /// A request that has not ended.
    struct SentRequest {
        let shape: PatternShape
        let sentAt: ContinuousClock.Instant
        /// The node that has it, once that has said something.
        var node: NodeID?
    }

    init(
        _ bus: MessageBus,
        _ realm: String,
        _ transport: any ClusterTransport,
        _ configuration: ClusterNode.Configuration
    ) {
        self.eventLoop = bus.eventLoop
        self.bus = bus
        self.transport = transport
        let subjects = Subjects(realm: realm)
        self.subjects = subjects
        self.inboxPrefix = subjects.inboxPrefix(of: self.id)
        // Several nodes may have one name, and each counts its messages from the beginning.
        self.eventSource = "/\(Subjects.token(realm))/\(Subjects.token(configuration.name))/\(self.id)"
        self.realm = realm
        self.configuration = configuration
        self.clients = ClientBudget(
            countLimit: configuration.requestsOfClients,
            sizeLimit: configuration.requestBytesOfClients
        )
        self.service =
            configuration.answersServiceRequests
            ? ServiceDescription(configuration, id: self.id, realm: realm) : nil
        self.state = Locked(ClusterState(own: self.id, table: bus.clusterTable()))
        self.document = LiveDocument(of: bus, scope: .exposed)
    }

    nonisolated var now: ContinuousClock.Instant { self.eventLoop.time.instant }

    /// Whether the node has joined and does not leave yet.
    var isMember: Bool { self.phase == .member }

    /// Whether the server was away a moment ago, so that other nodes may have yet to come back to it.
    var isReturning: Bool { self.reconnectedAt.map { self.now - $0 < .seconds(2) } ?? false }

    func note(_ change: (inout ClusterNode.Statistics) -> Void) { self.ledger.withLock { change(&$0) } }
}

// Joining and leaving.
extension ClusterCore {
    func start() async throws {
        if self.phase == .left {
            throw RoutingError(
                .refused,
                message: "this node has left the cluster: create another node to join again"
            )
        }
        guard self.phase == .apart else { return }
        self.phase = .member
        do throws(RoutingError) {
            try await self.transport.open(on: self.eventLoop) { [weak self] event in
                self?.assumeOnLoop { $0.receive(event) } ?? true
            }
        } catch {
            self.phase = .apart
            throw error
        }
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
        try await self.start()
        await withGracefulShutdown {
            await self.leaving.wait()
        } onShutdown: {
            self.beginLeaving()
        }
        await self.leave()
    }

    nonisolated func beginLeaving() { self.leaving.fire() }

    /// Tells the others, takes no more requests, waits for those in flight, and closes the connection.
    ///
    /// It beats until it has: the others know by its silence that what they have not got is lost.
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
        self.lastBeat = nil
        self.phase = .left
        self.loseAll("this node has left the cluster")
        self.registration.take()?.cancel()
        self.readinessCheck.take()?.cancel()
        self.abandonSessions("has left the cluster")
        await self.transport.flush()
        await self.transport.close()
    }

    /// Cancels what the others have asked for, and says so.
    func abandonSessions(_ reason: String) {
        let text = self.saying(reason)
        for session in self.sessions.values { session.assumeOnLoop { $0.abandon(text) } }
        self.sessions = [:]
    }

    /// A sentence about this node.
    func saying(_ text: String) -> String { "the node \(self.configuration.name) (\(self.id)) \(text)" }

    private var isDrained: Bool {
        self.pending.count == 0 && self.refreshes.isEmpty && self.eventsInFlight == 0
            && self.sessions.values.allSatisfy { $0.assumeOnLoop { $0.isIdle } }
    }
}

// What this node tells the others.
extension ClusterCore {
    func announce(_ kind: Announcement.Kind, to node: NodeID? = nil) {
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

    private var interval: Int { max(1, Int(self.configuration.heartbeatInterval / .milliseconds(1))) }

    private func send(_ announcement: Announcement, to node: NodeID?) {
        let subject = node.map { self.subjects.members($0) } ?? self.subjects.nodes
        let bytes = announcement.bytes
        guard bytes.count <= self.transport.payloadLimit else {
            self.configuration.logger.error(
                "the node shares more than fits into a message",
                metadata: ["bytes": "\(bytes.count)"]
            )
            return
        }
        // That a node cannot be asked is known by the reply subject.
        let reply = node.map { ReplySubject.plain(self.subjects.asking($0, self.id)) }
        _ = self.transport.publish(subject, reply: reply, bytes, as: .membership)
    }

    /// The routes have changed, or what is shared: announces it with what changes in the next millisecond.
    private nonisolated func noteRoutesChanged() {
        guard !self.isAnnouncementDue.exchange(true, ordering: .acquiringAndReleasing) else { return }
        self.eventLoop.schedule(at: Deadline(after: .milliseconds(1), by: self.eventLoop.time)) {
            self.assumeOnLoop { core in
                // Not a store: what was changed before each call that found it true is seen from here on.
                _ = core.isAnnouncementDue.exchange(false, ordering: .acquiringAndReleasing)
                // A node that leaves has taken back what it offered.
                guard core.phase == .member, let change = core.updateOffer() else { return }
                core.send(change, to: nil)
            }
        }
    }

    /// Subscribes to what the node offers now.
    ///
    /// - Returns: What has changed, if anything has.
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
        let publications = Set(
            topics.compactMap { try? table.pattern($0) }.flatMap { self.subjects.publications(of: $0) }
        )
        let subjects = calls.union(publications)
        for subject in self.offer.subjects.subtracting(subjects) { self.transport.unsubscribe(subject) }
        for subject in subjects.subtracting(self.offer.subjects) {
            self.transport.subscribe(subject, queue: calls.contains(subject) ? ServiceDescription.queue : nil)
        }
        self.offer.subjects = subjects
        return change
    }

    /// Says that the node lives, and looks which of the others do not.
    private func scheduleBeat() {
        let interval = self.configuration.heartbeatInterval
        self.watch = self.eventLoop.schedule(at: Deadline(after: interval, by: self.eventLoop.time)) {
            [weak self] in
            self?.assumeOnLoop { $0.beat() }
        }
        self.lastBeat = self.now
    }

    private func beat() {
        let interval = self.configuration.heartbeatInterval
        // The loop stood still, or there was no server: then the others could not be heard.
        if let last = self.lastBeat, self.now - last > interval * 2 || !self.isConnected {
            self.state.withLock { $0.hearAll(at: self.now) }
        }
        self.scheduleBeat()
        self.announce(.beat)
        let (lost, gone) = self.state.withLock { $0.expire(at: self.now) }
        for member in lost {
            self.noteLoss(of: member, "has not been heard of")
            self.lose(member, "has not been heard of")
        }
        for member in gone { self.lose(member, "has left") }
        self.sweepSessions()
    }
}

/// What a node shares, as it has announced it.
struct ClusterOffer {
    var epoch = 0
    var routes: Set<String> = []
    var topics: Set<String> = []
    /// The subjects that are subscribed for it.
    var subjects: Set<String> = []
}

/// Resumes the one task that waits, now or as soon as it does.
private final class LeaveSignal: Sendable {
    private enum State {
        case silent
        case waiting(CheckedContinuation<Void, Never>)
        case fired
    }

    private let state = Locked(State.silent)

    func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isFired = self.state.withLock { state in
                    if case .fired = state { return true }
                    state = .waiting(continuation)
                    return false
                }
                if isFired { continuation.resume() }
            }
        } onCancel: {
            self.fire()
        }
    }

    func fire() {
        let waiting = self.state.withLock { state in
            defer { state = .fired }
            if case .waiting(let continuation) = state { return continuation as CheckedContinuation? }
            return nil
        }
        waiting?.resume()
    }
}
