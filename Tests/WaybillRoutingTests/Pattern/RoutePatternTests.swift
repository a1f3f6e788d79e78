import Testing
import WaybillRouting

@Suite struct RoutePatternTests {
    @Test(arguments: [
        ("/a/:b/{c}.d/<int:e>/<path:f>", ["b string", "c string", "e int", "f path"]),
        ("/:from-:to/:id(\\d+)", ["from string", "to string", "id regex"]),
        ("/a(/:b)(/c/:d)", ["b string", "d string"]),
        ("/:1/{2}/<3>/(x)/a)", []),
        ("/%3Aid/%7Bx%7D", []),
        ("/**/x/**y/*z", ["** path", "y path", "z path"]),
        ("/*.jpg/*/a*", []),
        ("/:id(a/b)/x", ["id regex"]),
    ])
    func `a pattern lists its parameters and their types`(text: String, expected: [String]) throws {
        #expect(try RoutePattern(text).parameters.map { "\($0.name) \($0.type)" } == expected)
    }

    @Test(arguments: [
        ("", "empty"), ("/a/<itn:id>", "`itn` is not a type"), ("/a(/b", "is not closed: add `)`"),
        ("/a<path:b>", "whole segment"),
        ("/:id((", "a/b"), ("/:id([)", "a/b"), ("/:id(\\1)", "not a known escape"),
        ("/:id((?=a))", "`(?:` is the only"),
        ("/:id(a{600})", "more than 512 states"), ("/:id(*a)", "follows no expression"),
        ("/:id(a^b)", "move or remove"), ("/:id(a{2}{3})", "follows another repetition"),
        ("/:id(a+?{2,})", "follows another repetition"),
        ("/:id(^)", "empty text"), ("/%FF", "not UTF-8"),
        ("/a(/b)(/b)(/b)(/b)(/b)(/b)(/b)", "more than 6 optional groups: register several"),
    ])
    func `an invalid pattern is rejected with a reason`(text: String, message: String) throws {
        if message == "a/b" {
            // A bracket that is never closed is text.
            #expect(try RoutePattern(text).parameters.map(\.name) == ["id"])
            return
        }
        let error = #expect(throws: RoutingError.self) { try RoutePattern(text) }
        #expect(error?.code == .invalidPattern)
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    }

    @Test(arguments: [
        ("/a/:x", "app://a/{y}"), ("/a/<string:x>", "/a/:x"), ("/a/:x-:y", "/a/{p}-{q}"),
        ("/a/**", "/a/*rest"),
        ("/a/:x(\\d+)", "/a/:y(^\\d+$)"), ("/a(/b)", "/a/b"), ("/a b", "/a%20b"), ("/é", "/%C3%A9"),
        ("/a//b/", "/a/b"),
    ])
    func `patterns of the same shape conflict`(first: String, second: String) throws {
        var table = RouteTable<Int>()
        try table.insert(first, 1)
        let error = #expect(throws: RoutingError.self) { try table.insert(second, 2) }
        #expect(error?.code == .conflict)
        #expect(error?.message.contains(first) == true)
    }

    @Test func `the error of a pattern that is too long contains only its beginning`() {
        let marks = String(repeating: "\u{301}", count: 100_000)
        let error = #expect(throws: RoutingError.self) { try RoutePattern("/a/e\(marks)") }
        #expect(error?.code == .invalidPattern)
        #expect((error?.url.utf8.count ?? .max) < 200)
    }

    @Test func `patterns that differ only in case conflict if the conventions ignore case`() throws {
        var conventions = RoutingConventions.waybill
        conventions.segmentsIgnoreCase = true
        for (first, second) in [("/x/V{m}", "/x/v{m}"), ("/x/<int:m>Px", "/x/<int:m>pX"), ("/X", "/x")] {
            var table = RouteTable<Int>(conventions: conventions)
            try table.insert(first, 1)
            let error = #expect(throws: RoutingError.self) { try table.insert(second, 2) }
            #expect(error?.code == .conflict)
        }
    }

    @Test func `regular expressions of different characters that look alike do not conflict`() throws {
        let (composed, decomposed) = ("\u{E9}", "e\u{301}")
        var table = RouteTable<Int>()
        try table.insert("/a/:x(\(composed))", 1)
        try table.insert("/a/:x(\(decomposed))", 2)
        #expect(try table.match("/a/\(composed)").flatMap { table[$0] } == 1)
        #expect(try table.match("/a/\(decomposed)").flatMap { table[$0] } == 2)
        #expect(try RoutePattern("/:x(\(composed))") != RoutePattern("/:x(\(decomposed))"))
    }
}
