internal import WaybillRouting

/// The other nodes that a node knows, and the patterns that these nodes share.
///
/// This type is a value that performs no I/O. It receives the announcements of the other nodes, and returns
/// the actions that the announcements require.
struct ClusterState: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// Another node.
    struct Member: Sendable, Equatable {
        let id: NodeID
        var name: String
        /// The number of changes of the node's routes and topics; nil while this node does not know its
        /// state.
        var epoch: Int?
        /// The first epoch since the state of the node was last unknown, and the time at which the epoch
        /// arrived.
        private var firstEpoch: (epoch: Int, at: Instant)?
        /// The time since which heartbeats contradict `firstEpoch`; nil while no heartbeat contradicts
        /// `firstEpoch`.
        ///
        /// The heartbeats name an epoch before `firstEpoch`, and no announcement has confirmed the known
        /// epoch since then.
        private var contradictedSince: Instant?
        var lastHeard: Instant
        /// The heartbeat interval of the node.
        var interval: Duration
        var routeList = PatternList()
        var topicList = PatternList()

        var routes: Set<String> { self.routeList.patterns }
        var topics: Set<String> { self.topicList.patterns }
        /// The number of bytes in the patterns.
        var patternBytes: Int { self.routeList.byteCount + self.topicList.byteCount }

        /// Creates a member for a node whose state is not known yet.
        init(_ announcement: Announcement, at now: Instant) {
            self.id = announcement.node
            self.name = announcement.name
            self.interval = .milliseconds(announcement.interval)
            self.lastHeard = now
        }

        /// The number of epochs by which the growth of a node's epoch may exceed one per millisecond.
        ///
        /// A node announces changes at most once a millisecond.
        static let epochAllowance = 1000

        /// Returns whether the node can have reached an epoch by now.
        func canHaveReached(_ epoch: Int, at now: Instant) -> Bool {
            guard let firstEpoch else { return true }
            let changes = Int((now - firstEpoch.at) / .milliseconds(1)) + Self.epochAllowance
            return epoch - firstEpoch.epoch <= changes
        }

        mutating func setEpoch(_ epoch: Int, at now: Instant) {
            self.epoch = epoch
            if self.firstEpoch == nil { self.firstEpoch = (epoch, now) }
        }

        /// Records that an announcement names the known epoch or a later one.
        mutating func confirmEpoch() { self.contradictedSince = nil }

        /// Discards the known epoch, because a heartbeat names an earlier epoch.
        ///
        /// The epoch of a node only grows, so one of the two announcements is forged. Only the epoch is
        /// discarded at first. ``canHaveReached(_:at:)`` still rejects an epoch that is far above the first
        /// epoch. If the heartbeat also contradicts the first epoch, the first epoch is possibly forged as
        /// well. The first epoch is then discarded, but only when no announcement has confirmed the known
        /// epoch for some time.
        mutating func doubtEpoch(_ earlier: Int, at now: Instant) {
            guard let firstEpoch, earlier < firstEpoch.epoch else {
                self.epoch = nil
                return
            }
            let since = self.contradictedSince ?? now
            self.contradictedSince = since
            guard now - since > max(Self.confirmationTime, self.interval * 1.5) else { return }
            self.epoch = nil
            self.firstEpoch = nil
            self.contradictedSince = nil
        }

        /// The time in which a node that is alive confirms its epoch with a heartbeat.
        private static let confirmationTime = Duration.seconds(2)

        static func == (left: Self, right: Self) -> Bool {
            left.id == right.id && left.name == right.name && left.epoch == right.epoch
                && left.lastHeard == right.lastHeard && left.interval == right.interval
                && left.routeList == right.routeList && left.topicList == right.topicList
        }
    }

    /// The departure of a node.
    private struct Departure: Sendable {
        let id: NodeID
        let epoch: Int
        /// Whether the node was asked for its state since then.
        var isAsked = false
    }

    /// An action that an announcement requires.
    enum Action: Sendable, Equatable {
        /// Ask a node for its state.
        case ask(NodeID)
        /// Send this node's state to a node.
        case answer(NodeID)
        /// Resume the callers that wait for the state of a node, because the state is known now.
        case learned(NodeID)
        /// Handle the departure of a node.
        case left(Member)
        /// Fail the requests that were sent to a known node.
        ///
        /// The node has announced itself as new, so it has dropped those requests.
        case returned(Member)
        /// Send `hello` to a node that this node had treated as dead although the node is alive.
        ///
        /// The earlier requests of that node have failed here. `hello` informs the node of this.
        case greet(NodeID)
    }

    private(set) var members: [NodeID: Member] = [:]
    /// The nodes that have announced their departure and are still answering earlier requests.
    private(set) var leaving: [NodeID: Member] = [:]
    /// The nodes that have ever announced their departure.
    ///
    /// A late message from such a node does not make the node a member again.
    private var departed: [Departure] = []
    /// The nodes that were treated as dead and have not sent a message since then.
    private var lost: [NodeID] = []
    private let own: NodeID
    private var directory: RouteDirectory

    /// The maximum number of nodes in `departed`, and in `lost`.
    private static let memoryLimit = 1000
    private static let memberLimit = 10_000
    /// The maximum number of bytes in the patterns of all nodes; an announcement that exceeds it is ignored.
    private static let patternByteLimit = 256 << 20
    private var patternBytes = 0

    init(own: NodeID, table: RouteTable<PatternShape>) {
        self.own = own
        self.directory = RouteDirectory(table)
    }

    /// Applies the announcement of a node, and returns the actions that the announcement requires.
    mutating func receive(_ announcement: Announcement, at now: Instant) -> [Action] {
        let id = announcement.node
        self.leaving[id]?.lastHeard = now
        guard id != self.own else { return [] }
        if let index = self.departed.firstIndex(where: { $0.id == id }) {
            guard self.isBack(announcement, from: self.departed[index]) else {
                guard announcement.kind == .beat else { return [] }
                self.departed[index].isAsked = true
                return [.ask(id)]
            }
            self.departed.remove(at: index)
            self.leaving[id] = nil
        }
        guard self.members[id]?.canHaveReached(announcement.epoch, at: now) ?? true else { return [] }
        if announcement.kind == .bye {
            return self.noteLeaving(id, announcement.epoch, at: now).map { [.left($0)] } ?? []
        }
        if announcement.kind == .ask { return [.answer(id)] }
        guard self.members[id] != nil || self.members.count < Self.memberLimit,
            self.patternBytes - self.replacedBytes(announcement) + announcement.patternBytes
                <= Self.patternByteLimit
        else { return [] }
        var member =
            self.members[id] ?? Member(announcement, at: now)
        member.lastHeard = now
        if announcement.epoch >= member.epoch ?? 0 { member.confirmEpoch() }
        var actions: [Action] = []
        if announcement.kind == .hello, let known = self.members[id] { actions.append(.returned(known)) }
        if let index = self.lost.firstIndex(of: id) {
            self.lost.remove(at: index)
            actions.append(.greet(id))
        }
        switch announcement.kind {
        case .hello where announcement.omitsPatterns: actions.append(.answer(id))
        case .hello, .state:
            // An equal epoch means that the state is equal too, so the state is known already.
            if member.epoch.map({ announcement.epoch > $0 }) ?? true {
                member.name = announcement.name
                member.interval = .milliseconds(announcement.interval)
                member.setEpoch(announcement.epoch, at: now)
                self.update(&member, routes: Set(announcement.routes), topics: Set(announcement.topics))
            }
            if announcement.epoch == member.epoch { actions.append(.learned(id)) }
            if announcement.kind == .hello { actions.append(.answer(id)) }
        case .change where announcement.epoch == (member.epoch ?? -1) + 1:
            member.setEpoch(announcement.epoch, at: now)
            self.update(
                &member,
                routes: member.routes.subtracting(announcement.removedRoutes).union(announcement.routes),
                topics: member.topics.subtracting(announcement.removedTopics).union(announcement.topics)
            )
            actions.append(.learned(id))
        case .change:
            if announcement.epoch > member.epoch ?? -1 { actions.append(.ask(id)) }
        case .beat where announcement.epoch != member.epoch:
            if announcement.epoch < member.epoch ?? 0 { member.doubtEpoch(announcement.epoch, at: now) }
            actions.append(.ask(id))
        case .beat: break
        case .ask, .bye: break
        }
        self.members[id] = member
        return actions
    }

    /// Returns the number of bytes in the patterns that an announcement replaces.
    private func replacedBytes(_ announcement: Announcement) -> Int {
        guard announcement.kind == .hello || announcement.kind == .state,
            let member = self.members[announcement.node]
        else { return 0 }
        return member.patternBytes
    }

    private mutating func update(_ member: inout Member, routes: Set<String>, topics: Set<String>) {
        let (oldRoutes, oldTopics) = (member.routes, member.topics)
        self.directory.removeRoutes(oldRoutes.lazy.filter { !routes.contains($0) }, of: member.id)
        self.directory.addRoutes(routes.lazy.filter { !oldRoutes.contains($0) }, of: member.id)
        self.directory.removeTopics(oldTopics.lazy.filter { !topics.contains($0) })
        for new in topics where !oldTopics.contains(new) { self.directory.addTopic(new) }
        self.patternBytes -= member.patternBytes
        member.routeList = PatternList(routes)
        member.topicList = PatternList(topics)
        self.patternBytes += member.patternBytes
    }

    /// Returns whether an announcement shows that a node has not departed.
    ///
    /// Another party may have announced the departure in the name of the node. If the node has received that
    /// announcement, it announces its state with a later epoch. Otherwise it continues to send heartbeats, and
    /// answers with its state when it is asked. A node that is leaving sends heartbeats too, but answers with
    /// another announcement of its departure.
    private func isBack(_ announcement: Announcement, from departure: Departure) -> Bool {
        guard announcement.kind == .hello || announcement.kind == .state else { return false }
        return announcement.epoch > departure.epoch
            || departure.isAsked && announcement.epoch == departure.epoch
    }

    /// Removes and returns the nodes that have been silent for 2.5 times their heartbeat interval.
    ///
    /// The `lost` nodes are treated as dead, and the `gone` nodes had announced their departure.
    mutating func expire(at now: Instant) -> (lost: [Member], gone: [Member]) {
        func silent(_ members: [NodeID: Member]) -> [NodeID] {
            members.values.filter { now - $0.lastHeard > $0.interval * 2.5 }.map(\.id).sorted()
        }
        return (
            lost: silent(self.members).compactMap { self.drop($0) },
            gone: silent(self.leaving).compactMap { self.leaving.removeValue(forKey: $0) }
        )
    }

    /// Moves a node to the leaving nodes.
    ///
    /// A leaving node accepts no more requests. It sends heartbeats until it has answered its earlier
    /// requests.
    private mutating func noteLeaving(_ id: NodeID, _ epoch: Int, at now: Instant) -> Member? {
        // Ignore the departure of an unknown node, because any sender could announce it with any epoch.
        guard var member = self.remove(id) else { return nil }
        Self.note(Departure(id: id, epoch: member.epoch ?? epoch), in: &self.departed)
        member.lastHeard = now
        self.leaving[id] = member
        return member
    }

    private static func note<Node>(_ node: Node, in nodes: inout [Node]) {
        nodes.append(node)
        if nodes.count > Self.memoryLimit { nodes.removeFirst() }
    }

    /// Removes a node that cannot be reached, until its next announcement makes it a member again.
    mutating func drop(_ id: NodeID) -> Member? {
        guard let member = self.remove(id) else { return nil }
        Self.note(id, in: &self.lost)
        return member
    }

    private mutating func remove(_ id: NodeID) -> Member? {
        guard var member = self.members.removeValue(forKey: id) else {
            return self.leaving.removeValue(forKey: id)
        }
        let known = member
        self.update(&member, routes: [], topics: [])
        return known
    }

    /// Restarts the measurement of silence for all nodes, because this node could not receive messages for a
    /// while.
    mutating func hearAll(at now: Instant) {
        for id in self.members.keys { self.members[id]?.lastHeard = now }
        for id in self.leaving.keys { self.leaving[id]?.lastHeard = now }
    }
}

// Resolution of URLs.
extension ClusterState {
    /// Returns the shape of the best pattern for a URL, or nil when no node shares a pattern that matches.
    func shape(for url: String) -> PatternShape? { self.directory.shape(for: url) }

    /// Returns the nodes that share a route of a shape.
    func nodes(sharing shape: PatternShape) -> Set<NodeID> { self.directory.nodes(sharing: shape) }

    /// Returns patterns that other nodes share and that are similar to a URL.
    func suggestions(for url: String) -> [String] { self.directory.suggestions(for: url) }

    /// Returns whether any node receives publications to a URL.
    mutating func hasSubscribers(of url: String) -> Bool { self.directory.hasSubscribers(of: url) }
}
