import Testing
import WaybillTestSupport

@testable import WaybillRouting

@Suite struct WorstCaseTests {
    /// Matches `**/a/**/a/...` against `a/a/a/...`.
    ///
    /// The number of possible matches is exponential, but the work must not be.
    @Test func `matching takes steps proportional to segments times nodes`() throws {
        for count in [8, 16, 32, 64, 127] {
            var table = RouteTable<Int>()
            // The pattern has more rests than literals, and a last segment that never matches.
            try table.insert(String(repeating: "/**/a", count: count / 2) + "/end", 1)
            let url = String(repeating: "/a", count: count) + "/b"
            #expect(try table.match(url) == nil)
            let steps = CountingMatchState.steps(table, url)
            let nodes = table.trie.nodes.count
            print("hostile table: \(count + 1) segments, \(nodes) nodes, \(steps) steps")
            // Each position is visited once, and each of its two edges is taken once.
            #expect(steps <= 3 * (count + 1) * nodes)
        }
    }

    @Test func `a match is found among two alternatives for each segment`() throws {
        var table = RouteTable<Int>()
        for ways in 0..<64 {
            var pattern = ""
            for level in 0..<6 { pattern += ways >> level & 1 == 0 ? "/a" : "/:p\(level)" }
            try table.insert(pattern, ways)
        }
        #expect(try table.match("/a/a/a/a/a/a").flatMap { table[$0] } == 0)
        #expect(try table.match("/b/a/b/a/b/a").flatMap { table[$0] } == 0b010101)
        #expect(try table.match("/a/a/a/a/a/a/a") == nil)
    }

    /// A peer can send the pattern, because typed values are not regular expressions.
    @Test(arguments: ["int", "double", "bool", "uuid"])
    func `matching many adjacent typed values takes little time`(type: String) throws {
        var table = RouteTable<Int>()
        try table.insert("/" + String(repeating: "<\(type):a>", count: 64) + "x", 1)
        for byte in ["0", "9", "-0"] {
            let url = "/" + String(repeating: byte, count: 8_000 / byte.count) + "x"
            let before = threadTime()
            _ = try table.match(url)
            let time = threadTime() - before
            print("64 adjacent values of type \(type), \(byte): \(time)")
            #expect(time < Scale.whileQuick * 2)
        }
    }

    @Test(arguments: [("{a}", "?q=%20"), ("{a}", "%37.x"), ("<int:a>", ".x"), ("<int:a>", "%37.x")])
    func `a long segment is neither decoded nor searched again for each edge`(
        value: String,
        end: String
    ) throws {
        func time(_ value: String, _ end: String) throws -> Duration {
            var table = RouteTable<Int>()
            for edge in 0..<256 { try table.insert("app://files/\(value).ext\(edge)", edge) }
            let url = "app://files/" + String(repeating: "7", count: 8_000) + end
            var matches = 0
            let time = try leastThreadTime { if try table.match(url) != nil { matches += 1 } }
            #expect(matches == 0)
            return time
        }
        let (plain, other) = (try time("{a}", ".x"), try time(value, end))
        print("256 edges with \(value) and \(end): \(other), without escapes: \(plain)")
        #expect(other < plain * 100)
    }

    @Test func `adjacent integers are found wherever they can begin and end`() throws {
        var random = SeededGenerator(seed: 3)
        let pieces = ["0", "00", "7", "-", "+", "x", "é", "9223372036854775807", "9223372036854775808", "92"]
        for _ in 0..<3_000 {
            let text = Array((0..<random.next() % 6).map { _ in random.pick(pieces) }.joined().utf8)
            let allowed = (0...text.count).map { _ in random.chance(40) }
            let expected = (0...text.count).map { start in
                (start..<text.count).contains { end in
                    allowed[end + 1] && Decimal.int(text.span, start: start, end: end + 1) != nil
                }
            }
            #expect(Decimal.startsOfInts(text.span, 0..<text.count, endingAt: allowed) == expected)
        }
    }

    @Test func `a match keeps more than eight captures and choice points`() throws {
        var table = RouteTable<Int>()
        let names = (0..<20).map { "p\($0)" }
        try table.insert(names.map { "/:\($0)" }.joined(), 1)
        try table.insert(String(repeating: "/a", count: 20) + "/b", 2)
        for index in 0..<20 {
            try table.insert(names.prefix(index).map { "/:\($0)" }.joined() + "/a/stop", 10 + index)
        }
        let match = try #require(try table.match(String(repeating: "/a", count: 20)))
        #expect(table[match] == 1)
        #expect(match.parameters.path == Dictionary(uniqueKeysWithValues: names.map { ($0, "a") }))
    }
}

/// A match state that counts steps, since times are unreliable on a shared machine.
struct CountingMatchState: MatchState, ~Copyable {
    private var state = HeapMatchState()
    /// The number of visited positions and of choice points that were popped.
    private(set) var steps = 0

    var captureCount: Int { self.state.captureCount }
    var hasOverflowed: Bool { false }
    var best: MatchCandidate? {
        get { self.state.best }
        set { self.state.best = newValue }
    }

    mutating func push(_ choice: ChoicePoint) { self.state.push(choice) }

    mutating func pop() -> ChoicePoint? {
        self.steps += 1
        return self.state.pop()
    }

    mutating func trackVisits() { self.state.trackVisits() }

    mutating func markVisited(_ place: TriePosition) -> Bool {
        self.steps += 1
        return self.state.markVisited(place)
    }

    mutating func capture(_ range: URLRange) { self.state.capture(range) }
    mutating func capture(at index: Int) -> URLRange { self.state.capture(at: index) }
    mutating func replace(_ index: Int, with range: URLRange) { self.state.replace(index, with: range) }
    mutating func truncateCaptures(to count: Int) { self.state.truncateCaptures(to: count) }
    mutating func firstCaptures() -> Captures { self.state.firstCaptures() }

    /// The number of steps that a table takes for a URL of its default scheme.
    static func steps(_ table: RouteTable<Int>, _ url: String) -> Int {
        var scan = HeapScan()
        var state = CountingMatchState()
        let bytes = url.utf8.span
        _ = scan.read(bytes, table.trie.rules)
        _ = table.frozen.search(
            &state,
            from: table.trie.defaultRoot,
            to: scan.count,
            bytes: bytes,
            scan: &scan
        )
        return state.steps
    }
}
