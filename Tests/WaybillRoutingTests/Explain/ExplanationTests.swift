import Testing
import WaybillRouting
import WaybillTestSupport

@Suite struct ExplanationTests {
    func table(_ patterns: String...) throws -> RouteTable<String> {
        var table = RouteTable<String>()
        for pattern in patterns { try table.insert(pattern, pattern) }
        return table
    }

    @Test func `an explanation shows the steps of a match`() throws {
        let explanation = try self.table("/user/:id", "/user/me").explain("/user/me?x=1")
        #expect(explanation.route?.pattern.text == "/user/me")
        #expect(explanation.parameters?["x"] == "1")
        #expect(explanation.error == nil)
        #expect(explanation.trace.last?.contains("matches /user/me") == true)
    }

    @Test func `an explanation names a value of the wrong type`() throws {
        let table = try self.table("/user/<int:uid>", "/settings")
        let explanation = table.explain("/user/abc")
        #expect(explanation.failure?.message == "`uid` is not an int: abc")
        #expect(explanation.stoppedAt == 1)
        #expect(explanation.error?.code == .noRoute)
        #expect(explanation.error?.message.contains("`uid` is not an int: abc") == true)
    }

    @Test(arguments: [
        ("app://usr/detail", "app://user/detail"), ("/user/detial", "app://user/detail"),
        ("/user", "app://user/detail"),
        ("ap://user/detail", "app://user/detail"), ("/settngs/7/x", "/settings/:id/x"),
        ("/user/detail/more", "app://user/detail"),
    ])
    func `a URL without a route gets the nearest route suggested`(url: String, nearest: String) throws {
        let table = try self.table("app://user/detail", "/settings/:id/x", "/entirely/different")
        #expect(table.explain(url).nearest.first == nearest)
        #expect(table.noRoute(for: url).message.contains(nearest))
    }

    @Test func `the explanation of a URL suggests the nearest of many routes`() throws {
        let words = [
            "account", "basket", "customer", "delivery", "export", "forecast", "gift", "history", "invoice",
            "journal", "keyword", "language", "message", "notice", "order", "payment", "quota", "region",
            "stock", "ticket",
        ]
        var table = RouteTable<Int>()
        for first in words {
            for second in words {
                try table.insert("app://\(first)/\(second)/:id", 0)
                try table.insert("app://\(first)/:id/\(second)", 0)
            }
        }
        var generator = SeededGenerator(seed: 1)
        for route in table.routes.shuffled(using: &generator).prefix(60) {
            var url = Array(route.pattern.text.replacing(":id", with: "7"))
            let letters = url.indices.filter { url[$0].isLetter && $0 > 5 }
            let slip = try #require(letters.randomElement(using: &generator))
            switch Int.random(in: 0..<3, using: &generator) {
            case 0: url.remove(at: slip)
            case 1: url.insert("z", at: slip)
            default: url[slip] = "z"
            }
            #expect(table.explain(String(url)).nearest.first == route.pattern.text)
        }
    }

    /// Building the expressions takes much longer than comparing a URL with the patterns.
    @Test func `the error for an unmatched URL does not build regular expressions again`() throws {
        let path = "app://repos/:owner([A-Za-z0-9-]{1,39})/:repo([\\w.-]{1,100})"
        let patterns = (0..<20).map { "\(path)/topic\($0)" }
        var table = RouteTable<Int>()
        for pattern in patterns { try table.insert(pattern, 1) }
        let before = threadTime()
        for pattern in patterns { _ = try RoutePattern(pattern) }
        let building = threadTime() - before
        let explaining = leastThreadTime {
            #expect(table.noRoute(for: "app://repos/a/b/topic").message.contains("/topic"))
        }
        print("building 40 expressions: \(building), explaining: \(explaining)")
        #expect(explaining < building / 2)
        #expect(table.nearest(to: "app://repos/a/b/topic3x").first == patterns[3])
    }

    @Test func `the explanation of a URL does not suggest dissimilar routes`() throws {
        let explanation = try self.table("app://user/detail").explain("/zzzz/qqqqq")
        #expect(explanation.nearest.isEmpty)
        #expect(explanation.stoppedAt == 0)
    }

    @Test(arguments: [
        ("app://abc", "app://xyz"), ("app://a", "app://b"), ("app://nobody/home", "app://cart/show"),
        ("app://cart/add", "app://user/list"),
    ])
    func `the explanation of a URL does not suggest routes with only the scheme in common`(
        url: String,
        pattern: String
    ) throws {
        let table = try self.table(pattern)
        #expect(table.explain(url).nearest.isEmpty)
        #expect(table.noRoute(for: url).message == "no pattern matches")
    }

    @Test(arguments: ["scheme", "segment", "path"])
    func `a long URL has a short explanation`(place: String) throws {
        let long = String(repeating: "s", count: 8_000)
        let url =
            switch place {
            case "scheme": "\(long)://user/1"
            case "segment": "app://user/\(long)"
            default: "app://user" + String(repeating: "/s", count: 100)
            }
        var table = try self.table("app://user/<int:uid>", "app://files/**")
        for number in 0..<2_000 { try table.insert("app://many/of/them/\(number)", "\(number)") }
        let error = table.noRoute(for: url)
        #expect(error.code == .noRoute && error.message.utf8.count < 300 && "\(error)".utf8.count < 600)
        #expect(error.url == url)
        if place == "segment" { #expect(error.message.contains("`uid` is not an int: sss")) }
    }

    @Test func `the explanation of an invalid URL is its error`() throws {
        #expect(try self.table("/a").explain("").error?.code == .invalidURL)
    }

    @Test(arguments: ["[^a-z]+", "[^A-Z]+"])
    func `an expression that excludes a letter excludes both cases if case is ignored`(
        expression: String
    ) throws {
        var conventions = RoutingConventions.waybill
        conventions.segmentsIgnoreCase = true
        var table = RouteTable<Int>(conventions: conventions)
        try table.insert("/v-:code(\(expression))", 1)
        #expect(!table.canRoute("/v-abc") && !table.canRoute("/v-ABC"))
        #expect(table.canRoute("/v-12"))
    }

    @Test(arguments: ["/user/V-LILI", "/user/v-lili", "/user/v-Lili"])
    func `the explanation of a match ignores case as the table does`(url: String) throws {
        var conventions = RoutingConventions.waybill
        conventions.segmentsIgnoreCase = true
        var table = RouteTable<Int>(conventions: conventions)
        try table.insert("/user/V-:id([A-Z]+)", 1)
        let explanation = table.explain(url)
        #expect(explanation.route != nil)
        #expect(explanation.parameters?["id"] == String(url.dropFirst(8)))
        #expect(explanation.trace.last?.contains("matches /user/V-:id([A-Z]+)") == true)
    }
}
