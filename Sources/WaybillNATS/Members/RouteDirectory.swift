internal import WaybillRouting

/// The patterns that other nodes share.
///
/// The patterns are in a route table, so that a URL matches them by the same rules as the routes of a bus.
struct RouteDirectory: Sendable {
    private struct Target: Sendable {
        var nodes: NodeCounts
        /// The route; nil if the pattern conflicts with another pattern, or the conventions do not allow it.
        var route: RouteID?
    }

    private let empty: RouteTable<PatternShape>
    private var table: RouteTable<PatternShape>
    private var targets: [PatternShape: Target] = [:]
    /// The shapes without a route, each with one of its patterns, because the patterns conflict with others.
    private var inConflict: [PatternShape: RoutePattern] = [:]
    private var topics: TopicSet

    init(_ table: RouteTable<PatternShape>) {
        self.empty = table
        self.table = table
        self.topics = TopicSet(table)
    }

    mutating func addRoutes(_ texts: some Sequence<String>, of node: NodeID) {
        var (patterns, shapes): ([RoutePattern], [PatternShape]) = ([], [])
        for text in texts {
            guard let pattern = try? self.empty.pattern(text, from: .node) else { continue }
            let shape = PatternShape(pattern)
            guard self.targets[shape]?.nodes.add(node) == nil else { continue }
            self.targets[shape] = Target(nodes: .one(node))
            patterns.append(pattern)
            shapes.append(shape)
        }
        self.route(patterns, shapes)
    }

    private mutating func route(_ patterns: [RoutePattern], _ shapes: [PatternShape]) {
        for (index, route) in self.table.insert(patterns, shapes).enumerated() {
            self.targets[shapes[index]]?.route = route
            if route == nil { self.inConflict[shapes[index]] = patterns[index] }
        }
    }

    mutating func removeRoutes(_ texts: some Sequence<String>, of node: NodeID) {
        var hasRemoved = false
        for text in texts {
            guard let pattern = try? self.empty.pattern(text, from: .node) else { continue }
            let shape = PatternShape(pattern)
            guard let isUnused = self.targets[shape]?.nodes.remove(node), isUnused,
                let target = self.targets.removeValue(forKey: shape)
            else { continue }
            self.inConflict[shape] = nil
            guard let route = target.route else { continue }
            self.table.remove(route)
            hasRemoved = true
        }
        guard hasRemoved else { return }
        // Patterns that conflicted with a removed pattern can possibly be inserted now. They are tried once,
        // because a node can announce many patterns that conflict.
        let waiting = self.inConflict
        self.inConflict = [:]
        self.route(Array(waiting.values), Array(waiting.keys))
    }

    mutating func addTopic(_ text: String) { self.topics.add(text) }

    mutating func removeTopics(_ texts: some Sequence<String>) { self.topics.remove(texts) }

    func shape(for url: String) -> PatternShape? {
        guard !self.table.isEmpty, let match = (try? self.table.match(url)) ?? nil else { return nil }
        return self.table[match]
    }

    func nodes(sharing shape: PatternShape) -> Set<NodeID> {
        self.targets[shape].map { Set($0.nodes.counts.keys) } ?? []
    }

    func suggestions(for url: String) -> [String] {
        self.table.isEmpty ? [] : self.table.nearest(to: url)
    }

    mutating func hasSubscribers(of url: String) -> Bool { self.topics.contains(url) }
}

/// The number of patterns of one shape that each node shares; in the usual case of one pattern, no dictionary
/// is allocated.
private enum NodeCounts: Sendable {
    case one(NodeID)
    case several([NodeID: Int])

    var counts: [NodeID: Int] {
        switch self {
        case .one(let node): [node: 1]
        case .several(let counts): counts
        }
    }

    mutating func add(_ node: NodeID) {
        var counts = self.counts
        counts[node, default: 0] += 1
        self = .several(counts)
    }

    /// Removes one pattern of a node, and returns whether no pattern is left.
    mutating func remove(_ node: NodeID) -> Bool {
        var counts = self.counts
        counts[node] = counts[node].flatMap { $0 > 1 ? $0 - 1 : nil }
        if let (last, count) = counts.first, counts.count == 1, count == 1 {
            self = .one(last)
        } else {
            self = .several(counts)
        }
        return counts.isEmpty
    }
}

/// A set of publication patterns, which returns whether any of the patterns matches a URL.
private struct TopicSet: Sendable {
    private let empty: RouteTable<PatternShape>
    /// The tables of the set; if patterns conflict, each of them is in a different table.
    private var tables: [RouteTable<PatternShape>] = []
    /// The patterns that are in no table, because they conflict with a pattern of each table.
    ///
    /// While there is such a pattern, the set counts as matching every URL: the sender then publishes messages
    /// that no subscriber needs, but loses none.
    private var unfiled: [PatternShape: RoutePattern] = [:]
    /// The maximum number of tables, because each publication searches all of them.
    private static let tableLimit = 16
    /// The number of patterns of each shape.
    private var counts: [PatternShape: Int] = [:]
    private var places: [PatternShape: (table: Int, route: RouteID)] = [:]
    /// The result of the latest lookup, which is cached because most publications go to few URLs.
    private var latest: (url: String, isMatched: Bool)?

    init(_ table: RouteTable<PatternShape>) { self.empty = table }

    mutating func add(_ text: String) {
        self.latest = nil
        guard let pattern = try? self.empty.pattern(text, from: .node) else { return }
        let shape = PatternShape(pattern)
        self.counts[shape, default: 0] += 1
        guard self.counts[shape] == 1 else { return }
        self.file(pattern, shape)
    }

    /// Adds a pattern to the first table with which it does not conflict.
    private mutating func file(_ pattern: RoutePattern, _ shape: PatternShape) {
        // So many patterns in conflict are an attack. Each further one would be compared with every table.
        if self.unfiled.count >= Self.tableLimit {
            self.unfiled[shape] = pattern
            return
        }
        for index in self.tables.indices {
            if let route = try? self.tables[index].insert(pattern, shape) {
                self.places[shape] = (index, route)
                return
            }
        }
        var table = self.empty
        guard let route = try? table.insert(pattern, shape) else { return }
        guard self.tables.count < Self.tableLimit else {
            self.unfiled[shape] = pattern
            return
        }
        self.tables.append(table)
        self.places[shape] = (self.tables.count - 1, route)
    }

    mutating func remove(_ texts: some Sequence<String>) {
        self.latest = nil
        var hasRemoved = false
        for text in texts {
            guard let shape = (try? self.empty.pattern(text, from: .node)).map({ PatternShape($0) }),
                let count = self.counts[shape]
            else { continue }
            self.counts[shape] = count > 1 ? count - 1 : nil
            guard count == 1 else { continue }
            self.unfiled[shape] = nil
            guard let place = self.places.removeValue(forKey: shape) else { continue }
            self.tables[place.table].remove(place.route)
            hasRemoved = true
        }
        // The other patterns can possibly be added now.
        guard hasRemoved, !self.unfiled.isEmpty else { return }
        let waiting = self.unfiled
        self.unfiled = [:]
        for (shape, pattern) in waiting { self.file(pattern, shape) }
    }

    mutating func contains(_ url: String) -> Bool {
        if !self.unfiled.isEmpty { return true }
        if let latest, latest.url.hasSameBytes(as: url) { return latest.isMatched }
        let isMatched = self.tables.contains { !$0.isEmpty && ((try? $0.match(url)) ?? nil) != nil }
        self.latest = (url, isMatched)
        return isMatched
    }
}
