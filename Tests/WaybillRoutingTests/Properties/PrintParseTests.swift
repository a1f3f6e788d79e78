import Testing

@testable import WaybillRouting

@Suite struct PrintParseTests {
    private static let values = [
        "1", "-7", "a", "b", "a-b", "aab", "true", "x y", "100%", "a/b", "é🍌", "?#&=+", "a%2Fb", "1.5", "..",
        ":p", "*",
        "123e4567-e89b-12d3-a456-426614174000", "(/", "",
    ]

    @Test func `what was printed is read back`() throws {
        let rounds = Rounds.count("WAYBILL_PRINT_ROUNDS", default: 4_000)
        var routes = RandomRoutes(seed: 5)
        var printed = 0
        for _ in 0..<rounds {
            let pattern = try RoutePattern(routes.pattern())
            var values: [String: String] = [:]
            for parameter in pattern.parameters { values[parameter.name] = routes.random.pick(Self.values) }
            if routes.random.chance(30) { values["extra"] = routes.random.pick(Self.values) }
            guard let url = try? pattern.url(with: values) else { continue }
            printed += 1
            var table = RouteTable<Int>()
            try table.insert(pattern.text, 1)
            #expect(try table.match(url)?.parameters.all == values, "\(pattern) printed \(url)")
        }
        #expect(printed > rounds / 10)
    }
}
