internal import WaybillRouting

/// The subscribers by pattern.
///
/// A topic is a pattern with its subscribers. Patterns that differ only in the names of their values have the
/// same shape, and a table has one route for each shape. The table finds all shapes that match a URL in a
/// single search, whose cost does not depend on the number of topics. A pattern with optional groups has one
/// shape for each combination of omitted groups.
struct TopicIndex: Sendable {
    /// The tables: one for all patterns, or one for each pattern when the conventions make the match of a
    /// pattern depend on other patterns.
    private var tables: [RouteTable<Int>] = []
    private var shapes: [Int: Shape] = [:]
    private var topics: [Int: Topic] = [:]
    private var lastNumber = 0

    private struct Shape {
        let table: Int
        let route: RouteID
        var members: [Member] = []
    }

    /// A topic in the list of topics that share a shape.
    private struct Member {
        let topic: Int
        let names: CaptureNames
        /// The number of literal segments of the shape.
        let literals: Int
    }

    private struct Topic {
        let pattern: RoutePattern
        var shapes: [Int] = []
        var ids: [Int] = []
        var subscribers: [Subscriber] = []

        /// Returns the index of a subscriber by a binary search, because the IDs are in ascending order.
        func index(of id: Int) -> Int? {
            var (low, high) = (0, self.ids.count)
            while low < high {
                let middle = (low + high) / 2
                if self.ids[middle] < id { low = middle + 1 } else { high = middle }
            }
            return low < self.ids.count && self.ids[low] == id ? low : nil
        }
    }

    /// A topic that matches a URL.
    private typealias Hit = (topic: Topic, member: Member, parameters: Parameters)

    var count: Int { self.topics.count }

    /// All subscribers, in the order of their topics.
    var subscribers: [Subscriber] { self.topics.sorted { $0.key < $1.key }.flatMap(\.value.subscribers) }

    /// Adds a topic without subscribers and returns its number, or throws `invalidPattern` for too many
    /// topics.
    mutating func insert(
        _ pattern: RoutePattern,
        makeTable: () -> RouteTable<Int>
    ) throws(RoutingError) -> Int {
        let topic = self.nextNumber()
        self.topics[topic] = Topic(pattern: pattern)
        for pattern in pattern.expansions {
            do throws(RoutingError) {
                let shape = try self.shape(of: pattern, makeTable: makeTable)
                let names = self.tables[shape.table].captureNames(of: pattern)
                let member = Member(topic: topic, names: names, literals: pattern.literalCount)
                self.shapes[shape.number]?.members.append(member)
                self.topics[topic]?.shapes.append(shape.number)
            } catch {
                self.removeTopic(topic)
                throw error
            }
        }
        return topic
    }

    private mutating func nextNumber() -> Int {
        self.lastNumber += 1
        return self.lastNumber
    }

    /// Returns the number and the table of a pattern's shape, and adds a shape that no other pattern has.
    private mutating func shape(
        of pattern: RoutePattern,
        makeTable: () -> RouteTable<Int>
    ) throws(RoutingError) -> (number: Int, table: Int) {
        let number = self.nextNumber()
        for table in 0...self.tables.count {
            if table == self.tables.count { self.tables.append(makeTable()) }
            if let shape = self.tables[table].handler(sharedWith: pattern) { return (shape, table) }
            if let route = try self.tables[table].insertBeside(pattern, number) {
                self.shapes[number] = Shape(table: table, route: route)
                return (number, table)
            }
        }
        preconditionFailure("internal error: an empty table rejected a pattern")
    }

    mutating func setDefaultScheme(_ scheme: String) {
        for index in self.tables.indices { self.tables[index].defaultScheme = scheme }
    }

    mutating func insert(_ subscriber: Subscriber, id: Int, to topic: Int) {
        self.topics[topic]?.ids.append(id)
        self.topics[topic]?.subscribers.append(subscriber)
    }

    /// Removes a subscriber, and the topic if the topic has no more subscribers.
    ///
    /// Returns the pattern of a removed topic, and nil when the subscriber does not exist.
    mutating func remove(id: Int, from topic: Int) -> (subscriber: Subscriber, topic: RoutePattern?)? {
        guard let index = self.topics[topic]?.index(of: id),
            let subscriber = self.topics[topic]?.subscribers.remove(at: index)
        else { return nil }
        self.topics[topic]?.ids.remove(at: index)
        let isLast = self.topics[topic]?.ids.isEmpty == true
        return (subscriber, isLast ? self.removeTopic(topic) : nil)
    }

    /// Removes a topic, and returns its pattern.
    @discardableResult
    private mutating func removeTopic(_ number: Int) -> RoutePattern? {
        guard let topic = self.topics.removeValue(forKey: number) else { return nil }
        for shape in topic.shapes {
            self.shapes[shape]?.members.removeAll { $0.topic == number }
            guard let empty = self.shapes[shape], empty.members.isEmpty else { continue }
            self.shapes[shape] = nil
            self.tables[empty.table].remove(empty.route)
        }
        return topic.pattern
    }

    /// Returns the subscribers whose patterns match a URL.
    func subscribers(matching url: String) throws(RoutingError) -> MatchedSubscribers {
        var hits: [Hit] = []
        for table in self.tables {
            for match in try table.matchAll(url) {
                for member in table[match].flatMap({ self.shapes[$0] })?.members ?? [] {
                    guard let topic = self.topics[member.topic] else { continue }
                    hits.append((topic, member, match.parameters.renamed(by: member.names)))
                }
            }
        }
        var matched = MatchedSubscribers()
        for hit in self.bestOfEachTopic(hits) {
            matched.append(hit.topic.subscribers, ids: hit.topic.ids, hit.parameters)
        }
        matched.sort()
        return matched
    }

    /// Keeps the hit with the most literal segments for each topic that several shapes have matched.
    private func bestOfEachTopic(_ hits: [Hit]) -> [Hit] {
        guard hits.contains(where: { $0.topic.shapes.count > 1 }) else { return hits }
        var best: [Int: Int] = [:]
        for (index, hit) in hits.enumerated() {
            let rival = best[hit.member.topic]
            if let rival, hits[rival].member.literals >= hit.member.literals { continue }
            best[hit.member.topic] = index
        }
        return best.values.sorted().map { hits[$0] }
    }
}
