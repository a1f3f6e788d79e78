import Testing
import WaybillTestSupport

@testable import WaybillRouting

@Suite struct RoutePatternPrintTests {
    @Test(arguments: [
        ("app://user/:id", ["id": "Lili S/值"], "app://user/Lili%20S%2F%E5%80%BC"),
        ("/files/{name}.jpg", ["name": "a b"], "app://files/a%20b.jpg"),
        ("/a(/:b)(/c/:d)", ["d": "2"], "app://a/c/2"),
        ("/d/**rest", ["rest": "x/y z"], "app://d/x/y%20z"),
        ("/user", ["q": "1&2", "p": ""], "app://user?p=&q=1%262"),
        ("/", [:], "app://"),
    ])
    func `a pattern prints values as a URL`(pattern: String, values: [String: String], url: String) throws {
        #expect(try RoutePattern(pattern).url(with: values) == url)
    }

    @Test(arguments: [
        ("/user/:id", [:], RoutingError.Code.missingParameter, "`id`"),
        ("/user/:id", ["id": ""], .invalidParameter, "`id` is empty"),
        ("/user/<int:id>", ["id": "abc"], .invalidParameter, "`id` is not an int: abc"),
        ("/:a-:b", ["a": "x-y", "b": "z"], .invalidParameter, "is read back as another value"),
        ("/d/**rest", ["rest": "x//y"], .invalidParameter, "empty segment"),
        ("/d/*", [:], .missingParameter, "no name"),
    ])
    func `values that cannot be printed are rejected with a reason`(
        pattern: String,
        values: [String: String],
        code: RoutingError.Code,
        message: String
    ) throws {
        let error = #expect(throws: RoutingError.self) { try RoutePattern(pattern).url(with: values) }
        #expect(error?.code == code)
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    }

    private static let values = [
        "1", "-7", "a", "b", "a-b", "aab", "true", "x y", "100%", "a/b", "é🍌", "?#&=+", "a%2Fb", "1.5", "..",
        ":p", "*",
        "123e4567-e89b-12d3-a456-426614174000", "(/", "",
    ]

    @Test func `the values of a printed URL are read unchanged`() throws {
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
