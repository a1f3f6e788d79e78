import Testing

@testable import WaybillRouting

@Suite struct WorstCaseTests {
    /// `**/a/**/a/...` against `a/a/a/...`: the number of ways grows exponentially, the work must not.
    @Test func `backtracking grows with segments times nodes`() throws {
        for count in [8, 16, 32, 64, 127] {
            var table = RouteTable<Int>()
            // More rests than literals to go round, and an end that never comes.
            try table.insert(String(repeating: "/**/a", count: count / 2) + "/end", 1)
            let url = String(repeating: "/a", count: count) + "/b"
            #expect(try table.match(url) == nil)
            let steps = CountingWalk.steps(table, url)
            let nodes = table.core.nodes.count
            print("hostile table: \(count + 1) segments, \(nodes) nodes, \(steps) steps")
            // Each place is entered once, and left once for each of the two ways on.
            #expect(steps <= 3 * (count + 1) * nodes)
        }
    }

    @Test func `many ways at every segment are tried once each`() throws {
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

    @Test func `more than eight values and choices are kept`() throws {
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
