internal import WaybillRouting

/// The patterns that other nodes share, as a route table: the same rules say which of them a URL means.
struct RouteDirectory: Sendable {
    private struct Target: Sendable {
        /// How the nodes of one shape write their patterns.
        var patterns: [NodeID: String] = [:]
        /// Nil if the pattern is in conflict with another one, or cannot be read by this node's conventions.
        var route: RouteID?
    }

    private let empty: RouteTable<PatternShape>
    private var table: RouteTable<PatternShape>
    private var targets: [PatternShape: Target] = [:]
    private var topics: TopicSet

    init(_ table: RouteTable<PatternShape>) {
        self.empty = table
        self.table = table
        self.topics = TopicSet(table)
    }

    mutating func addRoute(_ text: String, of node: NodeID) {
        guard let pattern = try? self.empty.pattern(text) else { return }
        let shape = PatternShape(pattern)
        var target = self.targets[shape] ?? Target()
        target.patterns[node] = text
        if target.route == nil { target.route = try? self.table.insert(text, shape) }
        self.targets[shape] = target
    }

    mutating func removeRoute(_ text: String, of node: NodeID) {
        guard let pattern = try? self.empty.pattern(text) else { return }
        let shape = PatternShape(pattern)
        guard var target = self.targets[shape], target.patterns.removeValue(forKey: node) != nil else {
            return
        }
        guard target.patterns.isEmpty else {
            self.targets[shape] = target
            return
        }
        self.targets[shape] = nil
        guard let route = target.route else { return }
        self.table.remove(route)
        // A pattern that was in conflict with this one may take its place.
        for (shape, target) in self.targets where target.route == nil {
            guard let text = target.patterns.values.min() else { continue }
            self.targets[shape]?.route = try? self.table.insert(text, shape)
        }
    }

    mutating func addTopic(_ text: String) { self.topics.add(text) }

    mutating func removeTopic(_ text: String) { self.topics.remove(text) }

    func shape(for url: String) -> PatternShape? {
        guard !self.table.isEmpty, let match = (try? self.table.match(url)) ?? nil else { return nil }
        return self.table[match]
    }

    func nodes(sharing shape: PatternShape) -> Set<NodeID> {
        Set(self.targets[shape]?.patterns.keys.map(\.self) ?? [])
    }

    func suggestions(for url: String) -> [String] {
        self.table.isEmpty ? [] : self.table.explain(url).nearest
    }

    func hasSubscribers(of url: String) -> Bool { self.topics.contains(url) }
}

/// Patterns of publications: whether any of them matches a URL.
private struct TopicSet: Sendable {
    private let empty: RouteTable<PatternShape>
    /// Of patterns that are in conflict, a table holds one.
    private var tables: [RouteTable<PatternShape>] = []
    private var counts: [String: Int] = [:]
    private var places: [String: (table: Int, route: RouteID)] = [:]

    init(_ table: RouteTable<PatternShape>) { self.empty = table }

    mutating func add(_ text: String) {
        guard let pattern = try? self.empty.pattern(text) else { return }
        self.counts[text, default: 0] += 1
        guard self.counts[text] == 1 else { return }
        let shape = PatternShape(pattern)
        for index in self.tables.indices {
            if let route = try? self.tables[index].insert(text, shape) {
                self.places[text] = (index, route)
                return
            }
        }
        var table = self.empty
        guard let route = try? table.insert(text, shape) else { return }
        self.tables.append(table)
        self.places[text] = (self.tables.count - 1, route)
    }

    mutating func remove(_ text: String) {
        guard let count = self.counts[text] else { return }
        guard count == 1 else {
            self.counts[text] = count - 1
            return
        }
        self.counts[text] = nil
        guard let place = self.places.removeValue(forKey: text) else { return }
        self.tables[place.table].remove(place.route)
    }

    func contains(_ url: String) -> Bool {
        self.tables.contains { !$0.isEmpty && ((try? $0.match(url)) ?? nil) != nil }
    }
}
