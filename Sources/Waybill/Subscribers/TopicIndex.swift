internal import WaybillRouting

/// The subscribers by pattern; a value, as a route table is.
///
/// A table finds all patterns that match a URL in one walk. Of patterns with one shape and other names it can
/// hold only one, so there are as many tables as the most that share a shape; where the conventions make the
/// match of one pattern depend on another, there is one for each pattern.
struct TopicIndex: Sendable {
    private var tables: [RouteTable<Int>] = []
    private var topics: [Topic] = []
    private var free: [Int] = []

    /// A pattern and its subscribers, in the order of subscription.
    private struct Topic {
        var table = 0
        var route: RouteID?
        var ids: [Int] = []
        var subscribers: [Subscriber] = []
    }

    /// How many patterns there are.
    var count: Int { self.topics.count - self.free.count }

    /// All subscribers.
    var subscribers: [Subscriber] { self.topics.flatMap(\.subscribers) }

    /// Adds a pattern.
    ///
    /// - Parameters:
    ///   - pattern: the pattern.
    ///   - makeTable: makes a table for more patterns.
    /// - Returns: its number.
    /// - Throws: `invalidPattern` if there are too many.
    mutating func insert(
        _ pattern: RoutePattern,
        _ makeTable: () -> RouteTable<Int>
    ) throws(RoutingError) -> Int {
        let number = self.free.last ?? self.topics.count
        var index = 0
        var route: RouteID?
        while route == nil {
            if index == self.tables.count { self.tables.append(makeTable()) }
            route = try self.tables[index].insertBeside(pattern, number)
            if route == nil { index += 1 }
        }
        let topic = Topic(table: index, route: route)
        if self.free.popLast() != nil {
            self.topics[number] = topic
        } else {
            self.topics.append(topic)
        }
        return number
    }

    /// Reads URLs by another default scheme.
    mutating func setDefaultScheme(_ scheme: String) {
        for index in self.tables.indices { self.tables[index].defaultScheme = scheme }
    }

    mutating func add(_ subscriber: Subscriber, _ id: Int, to topic: Int) {
        self.topics[topic].ids.append(id)
        self.topics[topic].subscribers.append(subscriber)
    }

    /// Takes a subscriber out; a topic without subscribers is removed with it.
    mutating func remove(_ id: Int, from topic: Int) -> (subscriber: Subscriber, isLast: Bool)? {
        guard topic < self.topics.count, let index = self.index(of: id, in: topic) else { return nil }
        self.topics[topic].ids.remove(at: index)
        let subscriber = self.topics[topic].subscribers.remove(at: index)
        guard self.topics[topic].ids.isEmpty else { return (subscriber, false) }
        if let route = self.topics[topic].route { self.tables[self.topics[topic].table].remove(route) }
        self.topics[topic] = Topic()
        self.free.append(topic)
        return (subscriber, true)
    }

    /// Numbers grow, so an index is found by bisection.
    private func index(of id: Int, in topic: Int) -> Int? {
        let ids = self.topics[topic].ids
        var (low, high) = (0, ids.count)
        while low < high {
            let middle = (low + high) / 2
            if ids[middle] < id { low = middle + 1 } else { high = middle }
        }
        return low < ids.count && ids[low] == id ? low : nil
    }

    /// The subscribers whose pattern matches a URL.
    ///
    /// - Throws: `invalidURL`.
    func matched(of url: String) throws(RoutingError) -> MatchedSubscribers {
        var matched = MatchedSubscribers()
        for table in self.tables {
            for match in try table.matchAll(url) {
                guard let number = table[match] else { continue }
                let topic = self.topics[number]
                matched.add(topic.subscribers, topic.ids, match.parameters)
            }
        }
        matched.sort()
        return matched
    }
}

/// The subscribers that one message is for, in the order of subscription.
struct MatchedSubscribers: Sendable {
    private(set) var subscribers: [Subscriber] = []

    /// What the URL says to each pattern that matched.
    private(set) var parameters: [Parameters] = []

    /// Which of ``parameters`` each subscriber gets; empty if there is only one pattern.
    private(set) var patterns: [Int] = []
    private var ids: [Int] = []

    var isEmpty: Bool { self.subscribers.isEmpty }

    /// Adds the subscribers of one more pattern.
    mutating func add(_ subscribers: [Subscriber], _ ids: [Int], _ parameters: Parameters) {
        self.parameters.append(parameters)
        if self.parameters.count == 1 {
            self.subscribers = subscribers
            self.ids = ids
            return
        }
        if self.patterns.isEmpty { self.patterns = Array(repeating: 0, count: self.subscribers.count) }
        self.patterns += repeatElement(self.parameters.count - 1, count: subscribers.count)
        self.subscribers += subscribers
        self.ids += ids
    }

    /// Sorts the subscribers of several patterns.
    mutating func sort() {
        guard self.parameters.count > 1 else { return }
        // Each pattern's subscribers are in order, which the library's sort makes use of.
        let order = self.ids.indices.sorted { self.ids[$0] < self.ids[$1] }
        self.subscribers = order.map { self.subscribers[$0] }
        self.patterns = order.map { self.patterns[$0] }
    }

    /// Which of ``parameters`` a subscriber gets.
    @inline(__always)
    func pattern(of index: Int) -> Int { self.patterns.isEmpty ? 0 : self.patterns[index] }
}
