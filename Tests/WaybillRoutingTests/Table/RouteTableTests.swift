import Testing
import WaybillRouting

@Suite struct RouteTableTests {
    @Test(arguments: [
        "app://feed/detail", "app:///feed/detail/", "app:/feed/detail", "APP://feed//detail", "feed/detail",
        "/feed/detail?a=1", "app://feed/detail#next", "app://f%65ed/detail",
    ])
    func `different spellings of an address match the same route`(url: String) throws {
        var table = RouteTable<Int>()
        let id = try table.insert("app://feed/detail", 1)
        #expect(try table.match(url)?.route == id)
        #expect(table.canRoute(url))
    }

    @Test(arguments: [
        ("/users/me", 1, [:]), ("/users/7", 2, ["id": "7"]),
        ("/users/7/posts/9", 3, ["id": "7", "post": "9"]),
        ("/users/me/posts/9", 3, ["id": "me", "post": "9"]), ("/users/me/posts", 4, [:]),
        ("/organizations/something-long/members", 5, ["name": "something-long"]),
    ])
    func `the most specific pattern matches, and returns its values`(
        url: String,
        handler: Int,
        values: [String: String]
    )
        throws
    {
        var table = RouteTable<Int>()
        try table.insert("/users/me", 1)
        try table.insert("/users/:id", 2)
        try table.insert("/users/:id/posts/:post", 3)
        try table.insert("/users/me/posts", 4)
        try table.insert("/organizations/:name/members", 5)
        let match = try #require(try table.match(url))
        #expect(table[match] == handler)
        #expect(table.handler(for: match.route) == handler)
        #expect(match.parameters.path == values)
    }

    @Test func `a conflict names the rival pattern and both places`() throws {
        var table = RouteTable<Int>()
        try table.insert("/users/:id", 1, fileID: "App/Users.swift", line: 7)
        let error = #expect(throws: RoutingError.self) {
            try table.insert("app://users/:name", 2, fileID: "App/Names.swift", line: 9)
        }
        #expect(error?.code == .conflict)
        for part in ["/users/:id", "App/Users.swift:7: change or remove one", "App/Names.swift:9"] {
            #expect(error?.message.contains(part) == true)
        }
        #expect(table.count == 1)
    }

    @Test func `removing a route from a table keeps the routes above and below it`() throws {
        var table = RouteTable<Int>()
        let id = try table.insert("/a", 1)
        try table.insert("/a/b", 2)
        try table.insert("other://a", 3)
        #expect(table.remove(id) == 1)
        #expect(table.remove(id) == nil)
        #expect(!table.canRoute("/a"))
        #expect(table.canRoute("/a/b"))
        #expect(table.remove("/a/:b") == nil)
        #expect(table.remove("app:///a/b/") == 2)
        table.removeAll(scheme: "OTHER")
        #expect(table.isEmpty)
    }

    @Test func `an emptied route table has no routes and only the default scheme`() throws {
        var table = RouteTable<Int>()
        try table.insert("app://a", 1)
        try table.insert("other://a", 2)
        table.removeAll()
        #expect(table.isEmpty && table.schemes == ["app"])
    }

    @Test func `the noRoute error of a table suggests the nearest route`() throws {
        var table = RouteTable<Int>()
        try table.insert("app://user/detail", 1)
        try table.insert("app://settings", 2)
        let error = table.noRoute(for: "app://usr/detail?uid=1")
        #expect(error.code == .noRoute)
        #expect(error.message == "no pattern matches; did you mean app://user/detail?")
    }

    @Test(arguments: [RoutingConventions.SameShape.conflicts, .replaces])
    func `a pattern that was parsed under another default scheme keeps its scheme`(
        sameShape: RoutingConventions.SameShape
    ) throws {
        var conventions = RoutingConventions.waybill
        conventions.sameShape = sameShape
        var table = RouteTable<Int>(conventions: conventions)
        let pattern = try table.pattern("/home/page")
        table.defaultScheme = "shop"
        let id = try table.insert(pattern, 1)
        try table.insert("/home/page", 2)
        #expect(try table.match("/home/page").flatMap { table[$0] } == 2)
        #expect(try table.match("app://home/page").flatMap { table[$0] } == 1)
        #expect(table.remove(id) == 1)
        #expect(!table.canRoute("app://home/page"))
        try table.insert("app://home/page", 3)
        #expect(try table.match("app://home/page").flatMap { table[$0] } == 3)
        #expect(try table.match("/home/page").flatMap { table[$0] } == 2)
    }

    @Test
    func `a pattern of the maximum length keeps its scheme when the default scheme changes`() throws {
        var table = RouteTable<Int>(limits: RoutingLimits(patternLength: 10))
        let id = try table.insert("/home/page", 1)
        table.defaultScheme = "shop"
        try table.insert("/home/page", 2)
        #expect(table.route(id)?.pattern.text == "app:/home/page")
        #expect(try table.match("app://home/page").flatMap { table[$0] } == 1)
        #expect(try table.match("/home/page").flatMap { table[$0] } == 2)
        #expect(table.remove(id) == 1)
        #expect(!table.canRoute("app://home/page"))
    }

    @Test func `a table releases the handlers of all routes that one pattern replaces`() throws {
        final class Token: Sendable {}
        var conventions = RoutingConventions.waybill
        conventions.sameShape = .replaces
        for insertsTogether in [false, true] {
            var table = RouteTable<Token>(conventions: conventions)
            weak var first: Token?
            weak var second: Token?
            do {
                let tokens = [Token(), Token()]
                (first, second) = (tokens[0], tokens[1])
                try table.insert("/a", tokens[0])
                try table.insert("/a/:c", tokens[1])
            }
            if insertsTogether {
                let pattern = try table.pattern("/a(/:x)")
                #expect(table.insert([pattern], [Token()]).count == 1)
            } else {
                try table.insert("/a(/:x)", Token())
            }
            #expect(table.count == 1 && table.canRoute("/a/b"))
            #expect(first == nil && second == nil)
        }
    }

    @Test(arguments: ["app://Detail/:id/v<int:n>", "app://detail/:id/V<int:n>"])
    func `a pattern in another case removes a route if the conventions ignore case`(pattern: String) throws {
        var conventions = RoutingConventions()
        conventions.segmentsIgnoreCase = true
        var table = RouteTable<Int>(conventions: conventions)
        try table.insert("app://Detail/:id/v<int:n>", 1)
        #expect(table.remove("app://detail/:other/v<int:n>") == nil)
        #expect(table.remove(pattern) == 1)
        var exact = RouteTable<Int>()
        try exact.insert("app://Detail/:id/v<int:n>", 1)
        #expect(exact.remove("app://detail/:id/v<int:n>") == nil)
    }
}
