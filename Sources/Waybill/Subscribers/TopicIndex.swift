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
    private var shapes = NumberedValues<Shape>()
    private var topics = NumberedValues<Topic>()

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
    }

    /// A topic that matches a URL.
    private struct Hit {
        let member: Member
        let parameters: Parameters
    }

    var count: Int { self.topics.count }

    var subscribers: [Subscriber] { self.topics.all.flatMap(\.subscribers) }

    /// Adds a topic without subscribers and returns its number, or throws `invalidPattern` for too many
    /// topics.
    mutating func insert(
        _ pattern: RoutePattern,
        makeTable: () -> RouteTable<Int>
    ) throws(RoutingError) -> Int {
        let topic = self.topics.insert(Topic(pattern: pattern))
        for pattern in pattern.expansions {
            do throws(RoutingError) {
                let shape = try self.shape(of: pattern, makeTable: makeTable)
                let names = self.tables[self.shapes[shape].table].captureNames(of: pattern)
                let member = Member(topic: topic, names: names, literals: pattern.literalCount)
                self.shapes[shape].members.append(member)
                self.topics[topic].shapes.append(shape)
            } catch {
                self.removeTopic(topic)
                throw error
            }
        }
        return topic
    }

    /// Returns the number of a pattern's shape, and adds the shape when no other pattern has it.
    private mutating func shape(
        of pattern: RoutePattern,
        makeTable: () -> RouteTable<Int>
    ) throws(RoutingError) -> Int {
        let shape = self.shapes.nextNumber
        for table in 0...self.tables.count {
            if table == self.tables.count { self.tables.append(makeTable()) }
            if let shape = self.tables[table].handler(sharedWith: pattern) { return shape }
            if let route = try self.tables[table].insertBeside(pattern, shape) {
                return self.shapes.insert(Shape(table: table, route: route))
            }
        }
        preconditionFailure("internal error: an empty table rejected a pattern")
    }

    /// Sets the default scheme of URLs.
    mutating func setDefaultScheme(_ scheme: String) {
        for index in self.tables.indices { self.tables[index].defaultScheme = scheme }
    }

    mutating func insert(_ subscriber: Subscriber, id: Int, to topic: Int) {
        self.topics[topic].ids.append(id)
        self.topics[topic].subscribers.append(subscriber)
    }

    /// Removes a subscriber, and the topic if the topic has no more subscribers.
    ///
    /// Returns the pattern of a removed topic, and nil when the subscriber does not exist.
    mutating func remove(id: Int, from topic: Int) -> (subscriber: Subscriber, topic: RoutePattern?)? {
        guard self.topics.has(topic), let index = self.topics[topic].ids.firstIndex(of: id) else {
            return nil
        }
        self.topics[topic].ids.remove(at: index)
        let subscriber = self.topics[topic].subscribers.remove(at: index)
        guard self.topics[topic].ids.isEmpty else { return (subscriber, nil) }
        return (subscriber, self.removeTopic(topic))
    }

    /// Removes a topic, and returns its pattern.
    @discardableResult
    private mutating func removeTopic(_ topic: Int) -> RoutePattern {
        for number in self.topics[topic].shapes {
            self.shapes[number].members.removeAll { $0.topic == topic }
            guard self.shapes[number].members.isEmpty else { continue }
            let shape = self.shapes.take(number)
            self.tables[shape.table].remove(shape.route)
        }
        return self.topics.take(topic).pattern
    }

    /// Returns the subscribers whose patterns match a URL.
    func matched(of url: String) throws(RoutingError) -> MatchedSubscribers {
        var hits: [Hit] = []
        for table in self.tables {
            for match in try table.matchAll(url) {
                guard let shape = table[match] else { continue }
                for member in self.shapes[shape].members {
                    hits.append(Hit(member: member, parameters: match.parameters.renamed(by: member.names)))
                }
            }
        }
        var matched = MatchedSubscribers()
        for hit in self.bestOfEachTopic(hits) {
            let topic = self.topics[hit.member.topic]
            matched.append(topic.subscribers, ids: topic.ids, hit.parameters)
        }
        matched.sort()
        return matched
    }

    /// Keeps the hit with the most literal segments for each topic that several shapes have matched.
    private func bestOfEachTopic(_ hits: [Hit]) -> [Hit] {
        guard hits.contains(where: { self.topics[$0.member.topic].shapes.count > 1 }) else { return hits }
        var best: [Int: Int] = [:]
        for (index, hit) in hits.enumerated() {
            let rival = best[hit.member.topic]
            if let rival, hits[rival].member.literals >= hit.member.literals { continue }
            best[hit.member.topic] = index
        }
        return best.values.sorted().map { hits[$0] }
    }
}

/// An array of values with a number for each value; the number of a removed value is used again.
private struct NumberedValues<Value: Sendable>: Sendable {
    private var values: [Value?] = []
    private var free: [Int] = []

    var count: Int { self.values.count - self.free.count }

    var all: [Value] { self.values.compactMap(\.self) }

    /// The number that the next inserted value will have.
    var nextNumber: Int { self.free.last ?? self.values.count }

    func has(_ number: Int) -> Bool { self.values.indices.contains(number) && self.values[number] != nil }

    mutating func insert(_ value: Value) -> Int {
        guard let number = self.free.popLast() else {
            self.values.append(value)
            return self.values.count - 1
        }
        self.values[number] = value
        return number
    }

    mutating func take(_ number: Int) -> Value {
        let value = self[number]
        self.values[number] = nil
        self.free.append(number)
        return value
    }

    subscript(number: Int) -> Value {
        get {
            guard let value = self.values[number] else {
                preconditionFailure("internal error: the table has no value with this number")
            }
            return value
        }
        _modify {
            guard var value = self.values[number].take() else {
                preconditionFailure("internal error: the table has no value with this number")
            }
            defer { self.values[number] = value }
            yield &value
        }
    }
}
