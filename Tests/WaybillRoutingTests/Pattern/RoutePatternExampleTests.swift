import Testing
import WaybillRouting
import WaybillTestSupport

@Suite struct RoutePatternExampleTests {
    @Test(arguments: [
        "app://user/detail", "app://user/:id", "app://user/<int:id>", "app://<double:x>/<bool:b>/<uuid:u>",
        "app://files/**rest", "app://files/*", "app://img/{name}.jpg", "app://v{major}.{minor}",
        "app://code/:id(\\d+)", "app://code/:id([^/]{2,4}x?|a|[A-Fé]+)", "app://a(/b/:c)", "app://a b/%3Aid",
        "app://<path:rest>/end", "app://:from-:to", "app://x/:a(b|c|)", "app://x/:a(^?a+)",
        "app://x/:a(|(b|c|)|)",
    ])
    func `a pattern matches its own examples, whatever the seed`(text: String) throws {
        let pattern = try RoutePattern(text)
        var table = RouteTable<Int>()
        try table.insert(text, 1)
        var generator = SeededGenerator(seed: 7)
        var seen: Set<String> = []
        for _ in 0..<200 {
            let url = pattern.example(using: &generator)
            #expect(table.canRoute(url), "\(url)")
            seen.insert(url)
        }
        #expect(pattern.parameters.isEmpty || seen.count > 1)
    }

    @Test func `an example of nested repetitions is short`() throws {
        let nested = String(repeating: "(", count: 31) + "a" + String(repeating: "+)", count: 31)
        let pattern = try RoutePattern("app://news/:x(\(nested)+)")
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<20 { #expect(pattern.example(using: &generator).utf8.count < 200) }
    }
}
