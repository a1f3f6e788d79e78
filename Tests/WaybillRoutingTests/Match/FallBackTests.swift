import Testing
import WaybillRouting

/// The fallback of a search that does not backtrack.
@Suite struct FallBackTests {
    func table(_ patterns: String...) throws -> RouteTable<String> {
        var conventions = RoutingConventions.waybill
        conventions.bestMatch = .literalWithoutBacktracking
        conventions.fallsBack = true
        var table = RouteTable<String>(conventions: conventions)
        for pattern in patterns { try table.insert(pattern, pattern) }
        return table
    }

    @Test(arguments: [
        ("/a/<int:x>", "/a/5/more", ["x": "5"]), ("/a/v-:x", "/a/v-1/more", ["x": "1"]),
        ("/a/*", "/a/b/more", [:]), ("/a/:x", "/a/b/more", ["x": "b"]), ("/a/b", "/a/b/more", [:]),
        ("/:y/<int:x>/*", "/a/5/b/more", ["x": "5", "y": "a"]),
    ])
    func `the route of the longest prefix receives a URL below it`(
        pattern: String,
        url: String,
        values: [String: String]
    ) throws {
        let table = try self.table(pattern)
        let match = try #require(try table.match(url))
        #expect(table[match] == pattern)
        #expect(match.parameters.path == values)
    }

    @Test(arguments: ["/user/5/show", "/user/5", "/user/x"])
    func `a URL that leaves the way to a longer route falls back to the route before it`(
        url: String
    ) throws {
        let table = try self.table("/user", "/user/<int:id>/edit")
        let match = try #require(try table.match(url))
        #expect(table[match] == "/user")
        #expect(match.parameters.path.isEmpty)
    }

    @Test func `a URL above all routes has no fallback`() throws {
        let table = try self.table("/a/:x/<int:y>/c")
        #expect(!table.canRoute("/a/b/5"))
        #expect(table.closestParameters(of: "/a/b/5")?.path == ["x": "b"])
    }
}
