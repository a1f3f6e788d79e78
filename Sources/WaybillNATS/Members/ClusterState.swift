internal import WaybillRouting

/// What a node knows of the others: which there are, and what they share; a value that performs no I/O.
///
/// It is told what other nodes announce, and says what has to be done about it.
struct ClusterState: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// Another node.
    struct Member: Sendable, Equatable {
        let id: NodeID
        var name: String
        /// How often what it shares has changed; nil while its state is not known.
        var epoch: Int?
        /// The first epoch that was known since the state was not, and when this node heard it.
        var firstEpoch: (epoch: Int, at: Instant)?
        var lastHeard: Instant
        /// How often it says that it lives.
        var interval = Duration.seconds(1)
        var routeList = PatternList()
        var topicList = PatternList()

        var routes: Set<String> { self.routeList.patterns }
        var topics: Set<String> { self.topicList.patterns }

        /// How many epochs a node may be ahead of one change a millisecond, which is as often as it announces
        /// changes.
        static let epochAllowance = 1000

        /// Whether the node can have had so many changes; any number may be the first.
        func canHaveReached(_ epoch: Int, at now: Instant) -> Bool {
            guard let firstEpoch else { return true }
            let changes = Int((now - firstEpoch.at) / .milliseconds(1)) + Self.epochAllowance
            return epoch - firstEpoch.epoch <= changes
        }

        mutating func setEpoch(_ epoch: Int, at now: Instant) {
            self.epoch = epoch
            if self.firstEpoch == nil { self.firstEpoch = (epoch, now) }
        }

        /// Has the next state accepted, whatever its epoch.
        mutating func forgetEpoch() {
            self.epoch = nil
            self.firstEpoch = nil
        }

        static func == (left: Self, right: Self) -> Bool {
            left.id == right.id && left.name == right.name && left.epoch == right.epoch
                && left.lastHeard == right.lastHeard && left.interval == right.interval
                && left.routeList == right.routeList && left.topicList == right.topicList
        }
    }

    /// What has to be done.
    enum Action: Sendable, Equatable {
        /// Ask a node for its state.
        case ask(NodeID)
        /// Send a node the own state.
        case answer(NodeID)
        /// A node's state is known now.
        case learned(NodeID)
        /// A node has left.
        case left(Member)
        /// A node that was there says that it is there now: what it was asked before is lost.
        case returned(Member)
        /// Tell a node that was lost, and is there after all, that this one is there now: what it had asked
        /// before is lost, and it may not have noticed anything.
        case greet(NodeID)
    }

    private(set) var members: [NodeID: Member] = [:]
    /// Nodes that have said that they leave, and still answer what they have.
    private(set) var leaving: [NodeID: Member] = [:]
    /// Nodes that have announced at any time that they leave, with the epoch that each had: a late message does
    /// not bring a node back.
    private var departed: [(id: NodeID, epoch: Int)] = []
    /// Nodes that were lost, and have not been heard of since.
    private var lost: [NodeID] = []
    private let own: NodeID
    private var directory: RouteDirectory

    /// How many nodes are remembered of those that are there no more.
    private static let memoryLimit = 1000
    private static let memberLimit = 10_000
    /// The most bytes of the patterns of all nodes; an announcement that would exceed it is ignored.
    private static let patternByteLimit = 256 << 20
    private var patternBytes = 0

    init(own: NodeID, table: RouteTable<PatternShape>) {
        self.own = own
        self.directory = RouteDirectory(table)
    }

    /// Takes what a node says.
    mutating func receive(_ announcement: Announcement, at now: Instant) -> [Action] {
        let id = announcement.node
        self.leaving[id]?.lastHeard = now
        guard id != self.own, !self.hasLeft(announcement) else { return [] }
        guard self.members[id]?.canHaveReached(announcement.epoch, at: now) ?? true else { return [] }
        if announcement.kind == .bye {
            return self.noteLeaving(id, announcement.epoch, at: now).map { [.left($0)] } ?? []
        }
        if announcement.kind == .ask { return [.answer(id)] }
        guard self.members[id] != nil || self.members.count < Self.memberLimit,
            self.patternBytes + announcement.patternBytes <= Self.patternByteLimit
        else { return [] }
        var member =
            self.members[id] ?? Member(id: id, name: announcement.name, epoch: nil, lastHeard: now)
        member.lastHeard = now
        member.interval = .milliseconds(announcement.interval)
        var actions: [Action] = []
        if announcement.kind == .hello, let known = self.members[id] { actions.append(.returned(known)) }
        if let index = self.lost.firstIndex(of: id) {
            self.lost.remove(at: index)
            actions.append(.greet(id))
        }
        switch announcement.kind {
        case .hello, .state:
            // The same epoch is the same state: a node that joins is told what its own announcement told.
            if member.epoch.map({ announcement.epoch > $0 }) ?? true {
                member.name = announcement.name
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
            // An epoch that is lower was said by somebody else.
            if announcement.epoch < member.epoch ?? 0 { member.forgetEpoch() }
            actions.append(.ask(id))
        case .beat: break
        case .ask, .bye: break
        }
        self.members[id] = member
        return actions
    }

    private mutating func update(_ member: inout Member, routes: Set<String>, topics: Set<String>) {
        let (oldRoutes, oldTopics) = (member.routes, member.topics)
        for old in oldRoutes where !routes.contains(old) { self.directory.removeRoute(old, of: member.id) }
        self.directory.addRoutes(routes.lazy.filter { !oldRoutes.contains($0) }, of: member.id)
        for old in oldTopics where !topics.contains(old) { self.directory.removeTopic(old) }
        for new in topics where !oldTopics.contains(new) { self.directory.addTopic(new) }
        self.patternBytes -= member.routeList.byteCount + member.topicList.byteCount
        member.routeList = PatternList(routes)
        member.topicList = PatternList(topics)
        self.patternBytes += member.routeList.byteCount + member.topicList.byteCount
    }

    /// Whether a node has left before it said something.
    ///
    /// A node in whose name somebody else has announced that announces its state with a later epoch.
    private mutating func hasLeft(_ announcement: Announcement) -> Bool {
        guard let index = self.departed.firstIndex(where: { $0.id == announcement.node }) else {
            return false
        }
        let isBack =
            [.hello, .state].contains(announcement.kind)
            && announcement.epoch > self.departed[index].epoch
        guard isBack else { return true }
        self.departed.remove(at: index)
        self.leaving[announcement.node] = nil
        return false
    }

    /// Forgets the nodes that have been silent for two and a half of their intervals.
    ///
    /// - Returns: Those that are lost, and those that are gone as they had said.
    mutating func expire(at now: Instant) -> (lost: [Member], gone: [Member]) {
        func silent(_ members: [NodeID: Member]) -> [NodeID] {
            members.values.filter { now - $0.lastHeard > $0.interval * 2.5 }.map(\.id).sorted()
        }
        return (
            lost: silent(self.members).compactMap { self.drop($0) },
            gone: silent(self.leaving).compactMap { self.leaving.removeValue(forKey: $0) }
        )
    }

    /// A node takes no more requests, and goes on beating until it has answered those that it has.
    private mutating func noteLeaving(_ id: NodeID, _ epoch: Int, at now: Instant) -> Member? {
        // Somebody else could name any epoch for a node that is not known.
        guard var member = self.remove(id) else { return nil }
        Self.note((id, member.epoch ?? epoch), in: &self.departed)
        member.lastHeard = now
        self.leaving[id] = member
        return member
    }

    private static func note<Node>(_ node: Node, in nodes: inout [Node]) {
        nodes.append(node)
        if nodes.count > Self.memoryLimit { nodes.removeFirst() }
    }

    /// A node cannot be reached; it is a member again when it says something.
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

    /// All nodes have been heard now: for a while, this one could hear nothing.
    mutating func hearAll(at now: Instant) {
        for id in self.members.keys { self.members[id]?.lastHeard = now }
        for id in self.leaving.keys { self.leaving[id]?.lastHeard = now }
    }
}

// Where messages go.
extension ClusterState {
    /// The shape of the best pattern for a URL; nil if no node shares one.
    func shape(for url: String) -> PatternShape? { self.directory.shape(for: url) }

    /// The nodes that share a route of a shape.
    func nodes(sharing shape: PatternShape) -> Set<NodeID> { self.directory.nodes(sharing: shape) }

    /// Patterns of other nodes that are like a URL.
    func suggestions(for url: String) -> [String] { self.directory.suggestions(for: url) }

    /// Whether a node takes what is published to a URL.
    mutating func hasSubscribers(of url: String) -> Bool { self.directory.hasSubscribers(of: url) }
}
