import Testing

@testable import WaybillRouting

@Suite
struct PatternOverlapTests {
    @Test(arguments: [
        ("app://a", "app://a", true), ("app://a", "app://b", false), ("app://a", "web://a", false),
        ("app://a/:x", "app://a/b", true), ("app://a/:x", "app://a", false),
        ("app://a/:x", "app://b/:y", false),
        ("app://**", "app://a/b/c", true), ("app://a/**", "app://a", false),
        ("app://a/**", "app://b/**", false),
        ("app://**/z", "app://a/**", true), ("app://a/**/b/**/c", "app://a/b/c", false),
        ("app://a/**/b/**/c", "app://a/x/b/y/c", true), ("app://a/**/b", "app://**/c", false),
        ("app://a(/:x)", "app://a", true), ("app://a(/:x)", "app://a/b/c", false),
        ("app://a/*", "app://*/b", true),
        ("app://a-:x", "app://a-b", true),
    ])
    func `patterns overlap when some URL can match both`(left: String, right: String, overlap: Bool) throws {
        let (left, right) = (try RoutePattern(left), try RoutePattern(right))
        #expect(left.mayOverlap(with: right) == overlap)
        #expect(right.mayOverlap(with: left) == overlap)
    }

    @Test
    func `patterns that match a common example overlap`() throws {
        let texts = [
            "app://a/:x", "app://:x/b", "app://**", "app://a/**/c", "app://**/c", "app://a(/:x)(/c)",
            "app://:x-:y/c",
            "app://a/<int:n>", "app://a/b/c/d", "app://*/c",
        ]
        var generator = SeededGenerator(seed: 7)
        for left in texts {
            for right in texts {
                let (pattern, other) = (try RoutePattern(left), try RoutePattern(right))
                var table = RouteTable<Void>()
                try table.insert(right, ())
                for _ in 0..<50 where table.canRoute(pattern.example(using: &generator)) {
                    #expect(pattern.mayOverlap(with: other), "\(left) and \(right)")
                }
            }
        }
    }
}
