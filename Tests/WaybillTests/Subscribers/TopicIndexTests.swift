import Testing
import WaybillCompatibility
internal import WaybillRouting
import WaybillTestSupport

@testable internal import Waybill

@Suite
struct TopicIndexTests {
    @Test(arguments: [RoutingConventions.waybill, .cocRouter])
    func `random subscribers get the messages whose URLs match their pattern`(
        conventions: RoutingConventions
    ) throws {
        let configuration = MessageBus.Configuration(conventions: conventions)
        let patterns = try TopicPattern.all(by: configuration)
        for seed in 0..<UInt64(Scale.of(10)) {
            var run = try TopicRun(patterns: patterns, configuration: configuration, seed: seed)
            for step in 0..<60 {
                try run.change()
                for url in TopicPattern.urls {
                    let (actual, expected) = try run.matched(of: url)
                    try #require(actual == expected, "seed \(seed), step \(step), \(url)")
                }
                let (count, expectedCount) = run.counts
                try #require(count == expectedCount, "seed \(seed), step \(step)")
            }
        }
    }

    @Test
    func `removing a subscriber twice removes it once`() throws {
        let parts = try StateParts()
        var index = TopicIndex()
        let topic = try index.insert(RoutePattern("app://a")) { RouteTable() }
        index.insert(Subscriber(parts.buffer()), id: 1, to: topic)
        index.insert(Subscriber(parts.buffer()), id: 2, to: topic)
        let removed = [(1, topic), (1, topic), (2, topic), (2, topic), (2, topic + 1)].map {
            index.remove(id: $0, from: $1).map { $0.topic?.text }
        }
        #expect(removed == [.some(nil), nil, "app://a", nil, nil])
        #expect(index.count == 0 && index.subscribers.isEmpty)
    }

    @Test
    func `topics whose patterns differ in names do not slow an unrelated publication`() throws {
        let parts = try StateParts()
        func time(of count: Int) throws -> Duration {
            var index = TopicIndex()
            for number in 0..<count {
                let topic = try index.insert(RoutePattern("app://a/:n\(number)")) { RouteTable() }
                index.insert(Subscriber(parts.buffer()), id: number, to: topic)
            }
            #expect(try index.subscribers(matching: "app://a/b").subscribers.count == count)
            var found = 0
            let time = try leastThreadTime {
                for _ in 0..<2_000 { found += try index.subscribers(matching: "app://b/c").subscribers.count }
            }
            #expect(found == 0)
            return time
        }
        let (one, many) = (try time(of: 1), try time(of: 3_000))
        #expect(many < one * 20, "one topic \(one), three thousand \(many)")
    }

    @Test
    func `a topic index rejects a text that is not a URL`() throws {
        var index = TopicIndex()
        _ = try index.insert(RoutePattern("app://**")) { RouteTable() }
        let error = #expect(throws: RoutingError.self) { try index.subscribers(matching: "app://a/%ff") }
        #expect(error?.code == .invalidURL)
    }
}

/// A pattern, and a table with only this pattern.
private struct TopicPattern {
    let pattern: RoutePattern
    let table: RouteTable<Void>

    static let urls = ["app://a", "app://a/b", "app://a/c", "app://a/b/c", "app://d/b", "app://d"]

    /// Returns patterns that exclude one another, overlap, or have the same shape with different names.
    static func all(by configuration: MessageBus.Configuration) throws -> [TopicPattern] {
        let isWaybill = configuration.conventions == .waybill
        let texts =
            isWaybill
            ? [
                "app://a", "app://a/b", "app://a/:x", "app://a/:y", "app://:z/b", "app://**", "app://a/**",
                "app://a(/:v)", "app://a(/:v)(/:w)", "app://a(/b)(/:w)", "app://:q(/c)",
            ]
            : ["app://a", "app://a/b", "app://a/<x>", "app://a/<y>", "app://<z>/b", "app://d", "app://a/c"]
        return try texts.map { text in
            TopicPattern(
                pattern: try configuration.pattern(text),
                table: try configuration.scope(of: text)
            )
        }
    }
}

/// An index, and a plain list of subscribers that has the same changes.
private struct TopicRun {
    private struct Entry {
        let id: Int
        let pattern: Int
        let topic: Int
        let subscriber: Subscriber
    }

    private let parts: StateParts
    private let patterns: [TopicPattern]
    private let configuration: MessageBus.Configuration
    private var generator: SeededGenerator
    private var index = TopicIndex()
    private var entries: [Entry] = []
    private var lastID = 0

    init(patterns: [TopicPattern], configuration: MessageBus.Configuration, seed: UInt64) throws {
        self.parts = try StateParts()
        self.patterns = patterns
        self.configuration = configuration
        self.generator = SeededGenerator(seed: seed)
    }

    /// Adds a subscriber to a pattern, or removes one.
    mutating func change() throws {
        if self.entries.count > 12 || !self.entries.isEmpty && self.generator.isOne(in: 3) {
            let entry = self.entries.remove(at: self.generator.number(below: self.entries.count))
            let removed = self.index.remove(id: entry.id, from: entry.topic)
            let isLast = !self.entries.contains { $0.pattern == entry.pattern }
            try #require(removed?.subscriber === entry.subscriber && (removed?.topic != nil) == isLast)
            return
        }
        let pattern = self.generator.number(below: self.patterns.count)
        // The bus keeps the topic of each pattern while the pattern has subscribers.
        let topic =
            try self.entries.first { $0.pattern == pattern }?.topic
            ?? self.index.insert(self.patterns[pattern].pattern) { self.configuration.table() }
        self.lastID += 1
        let subscriber = Subscriber(self.parts.buffer())
        self.index.insert(subscriber, id: self.lastID, to: topic)
        self.entries.append(
            Entry(id: self.lastID, pattern: pattern, topic: topic, subscriber: subscriber)
        )
    }

    /// Returns the subscribers of a URL in the order of subscription, each with its values.
    func matched(of url: String) throws -> (actual: [String], expected: [String]) {
        let matched = try self.index.subscribers(matching: url)
        let actual = matched.subscribers.indices.map { place in
            let entry = self.entries.first { $0.subscriber === matched.subscribers[place] }
            let values = matched.parameters[matched.patternIndex(ofSubscriber: place)].path
            return "\(entry?.id ?? -1) \(values.sorted { $0.key < $1.key })"
        }
        var expected: [String] = []
        for entry in self.entries {
            guard let match = try self.patterns[entry.pattern].table.matchAll(url).first else { continue }
            expected.append("\(entry.id) \(match.parameters.path.sorted { $0.key < $1.key })")
        }
        return (actual, expected)
    }

    /// The numbers of patterns and of subscribers.
    var counts: (actual: [Int], expected: [Int]) {
        (
            [self.index.count, self.index.subscribers.count],
            [Set(self.entries.map(\.pattern)).count, self.entries.count]
        )
    }
}
