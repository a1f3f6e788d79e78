import Testing
import WaybillCompatibility
import WaybillTestSupport

@testable import Waybill

/// No spelling of an exposed URL reaches another route than the exposed one.
@Suite(.timeLimit(.minutes(1)))
struct ExposedSpellingTests {
    private func outcome(
        _ bus: MessageBus,
        _ url: String,
        _ parameters: [String: any Sendable] = [:]
    ) async -> String {
        switch await bus.outcome(of: ExternalRequest(url: url, parameters: parameters, origin: .peer)) {
        case .success(let value): value
        case .failure(let error): "\(error.code)"
        }
    }

    private func makeBus(_ conventions: RoutingConventions = .waybill) throws -> MessageBus {
        var configuration = MessageBus.Configuration.quiet
        configuration.conventions = conventions
        let bus = MessageBus(configuration: configuration)
        for route in ["open", "closed", "open/door", "open/**"] {
            try bus.register("app://\(route)") { message in "\(route) \(message.parameters["q"] ?? "")" }
        }
        return bus
    }

    @Test(arguments: [
        "app://open", "APP://open", "app:///open", "app:/open", "app://open/", "app:////open//", "open",
        "/open",
        "app://op%65n", "%6fpen", "app://open?q=1", "app://open#closed", "app:open",
    ])
    func `spellings of a URL with the same meaning are exposed alike`(url: String) async throws {
        let bus = try self.makeBus()
        try bus.expose("app://open")
        #expect(await self.outcome(bus, url).hasPrefix("open "))
        #expect(bus.exposedOperations(of: url) == .calls)
    }

    @Test(arguments: [
        "app://closed", "app://CLOSED", "app://clos%65d", "app://open/door", "app://open/../closed",
        "app://open%2F..%2Fclosed", "app://open/..", "app://./closed", "app://open/%2e%2e/closed",
        "app://open%00", "closed", "//closed", "app://closed?open", "app://closed#app://open", "app://open/x",
        "other://open", "app://open%2fdoor", "app://Open",
    ])
    func `a spelling of a URL with another meaning is not exposed`(url: String) async throws {
        let bus = try self.makeBus()
        try bus.expose("app://open")
        #expect(await self.outcome(bus, url) == "noRoute")
        #expect(bus.exposedOperations(of: url) == [])
    }

    @Test(arguments: [
        "app://open/..", "app://open/a/../b", "app://open/%2e%2E", "app://open/.", "app://open/a%2F..%2Fb",
        "app://open/a%5C..%5Cb", "app://open/..%2f..%2fetc/passwd", "app://open/..%2F%CC%81x",
    ])
    func `a URL whose path leaves its folder is not exposed`(url: String) async throws {
        let bus = try self.makeBus()
        try bus.expose("app://open/**")
        #expect(await self.outcome(bus, url) == "noRoute")
        #expect(try await bus.route(url) as String != "")
    }

    @Test
    func `texts that look equal but have other bytes are different URLs`() async throws {
        let bus = try self.makeBus()
        try bus.register("app://caf\u{E9}") { _ in "one character" }
        try bus.register("app://cafe\u{301}") { _ in "two characters" }
        try bus.expose("app://caf\u{E9}")
        #expect(await self.outcome(bus, "app://caf\u{E9}") == "one character")
        #expect(await self.outcome(bus, "app://cafe\u{301}") == "noRoute")
    }

    @Test
    func `a URL with dots within its segments is exposed`() async throws {
        let bus = try self.makeBus()
        try bus.expose("app://open/**")
        for url in [
            "app://open/a.b", "app://open/...", "app://open/a?q=../..", "app://open/.a#..",
            "app://open/a%2Fb",
        ] {
            #expect(await self.outcome(bus, url).hasPrefix("open/**"))
        }
    }

    @Test(arguments: [["q": "9"], [:]])
    func `a peer's invalid URL fails with invalidURL, exposed or not`(
        parameters: [String: String]
    ) async throws {
        let bus = try self.makeBus()
        for url in ["", "app://\u{0}%zz%ff", String(repeating: "a", count: 100_000), "app://%ff"] {
            let before = await self.outcome(bus, url, parameters)
            #expect(before == "invalidURL", "\(url.prefix(40))")
            let registration = try bus.expose("app://**")
            #expect(await self.outcome(bus, url, parameters) == before)
            registration.cancel()
        }
    }

    @Test(arguments: [
        RoutingConventions.waybill, .yfRouter, .ftRouter, .cocRouter, .zikRouter,
    ])
    func `no spelling reaches a hidden route under the conventions of each router`(
        conventions: RoutingConventions
    ) async throws {
        let bus = try self.makeBus(conventions)
        try bus.expose("app://open")
        for url in [
            "app://closed", "app://open/door", "app://open/x/y", "APP://CLOSED", "app://push/closed",
            "app://Closed",
        ] {
            let outcome = await self.outcome(bus, url)
            #expect(!outcome.hasPrefix("closed") && !outcome.hasPrefix("open/"), "\(url) reaches \(outcome)")
        }
        #expect(await self.outcome(bus, "app://open").hasPrefix("open "))
    }

    @Test
    func `an exposed URL does not expose the route that another URL falls back to`() async throws {
        var conventions = RoutingConventions.waybill
        conventions.fallsBack = true
        let bus = MessageBus(
            configuration: .init(conventions: conventions, logger: MessageBus.Configuration.quiet.logger)
        )
        try bus.register("app://user") { _ in "user" }
        try bus.register("app://user/secret") { _ in "secret" }
        try bus.expose("app://user")
        #expect(await self.outcome(bus, "app://user") == "user")
        #expect(await self.outcome(bus, "app://user/secret") == "noRoute")
        #expect(await self.outcome(bus, "app://user/else") == "noRoute")
        #expect(try await bus.route("app://user/else") == "user")
    }

    @Test
    func `a peer's passed parameters do not override the path`() async throws {
        let bus = MessageBus(configuration: .quiet)
        try bus.register("app://user/:id") { message in
            "\(message.parameters["id"] ?? "-") \(message.parameters["name"] ?? "-")"
        }
        try bus.load(["app://me": "app://user/7"])
        try bus.expose("app://user/1")
        try bus.expose("app://me")
        let passed = ["id": "2", "name": "Lili"]
        #expect(await self.outcome(bus, "app://user/1?id=3&name=Max", passed) == "1 Lili")
        #expect(await self.outcome(bus, "app://me?id=3", passed) == "7 Lili")
        #expect(await self.outcome(bus, "app://user/2") == "noRoute")
        // For callers in the process, passed values take precedence over the path.
        #expect(try await bus.route("app://user/1", parameters: passed) == "2 Lili")
    }

    @Test
    func `a peer's query does not override the path where it otherwise takes precedence`() async throws {
        var conventions = RoutingConventions.waybill
        conventions.precedence = .queryBeforePath
        let bus = MessageBus(configuration: .init(conventions: conventions))
        try bus.register("app://user/:id") { message in message.parameters["id"] ?? "-" }
        try bus.expose("app://user/1")
        #expect(try await bus.route("app://user/1?id=3") == "3")
        #expect(await self.outcome(bus, "app://user/1?id=3") == "1")
    }

    @Test
    func `a peer's query does not override the value of a configured target's placeholder`() async throws {
        var conventions = RoutingConventions.waybill
        conventions.precedence = .queryBeforePath
        let bus = MessageBus(configuration: .init(conventions: conventions))
        try bus.register("app://product/:id") { message in message.parameters["id"] ?? "-" }
        try bus.load(["app://p/:sku": "app://product/:sku"])
        try bus.expose("app://p/1")
        #expect(try await bus.route("app://p/1?sku=2") == "2")
        #expect(await self.outcome(bus, "app://p/1?sku=2") == "1")
        #expect(await self.outcome(bus, "app://p/1?id=2") == "1")
    }

    @Test
    func `a peer's values reach the placeholders of a configured target like values of the process`()
        async throws
    {
        var conventions = RoutingConventions.waybill
        conventions.precedence = .queryBeforePath
        let bus = MessageBus(configuration: .init(conventions: conventions))
        try bus.register("app://product/:a/:b") { message in
            "\(message.parameters["a"] ?? "-")\(message.parameters["b"] ?? "-")"
        }
        try bus.register("app://maybe/:sku") { message in message.parameters["id"] ?? "-" }
        try bus.load(["app://p/:a/:b": "app://product/:b/:a", "app://m/:id(/:sku)": "app://maybe/:sku"])
        try bus.expose("app://**")
        #expect(try await bus.route("app://p/1/2") == "21")
        #expect(await self.outcome(bus, "app://p/1/2") == "21")
        #expect(await self.outcome(bus, "app://m/1?id=2") == "1")
    }

    @Test
    func `each subscriber of a peer's publication reads the path by its own pattern`() async throws {
        var conventions = RoutingConventions.waybill
        conventions.precedence = .queryBeforePath
        let bus = MessageBus(configuration: .init(conventions: conventions))
        let heard = Journal<String>()
        try bus.subscribe("app://:id/b") { heard.add("first \($0.parameters["id"] ?? "-")") }
        try bus.subscribe("app://a/:id") { heard.add("second \($0.parameters["id"] ?? "-")") }
        try bus.expose("app://**", for: .publishing)
        let request = ExternalRequest(url: "app://a/b?id=c", origin: .peer)
        #expect(try await bus.publish(request) == 2)
        #expect(heard.entries.sorted() == ["first a", "second b"])
    }

    @Test
    func `the parameters of a peer's publication do not override the path`() async throws {
        let bus = MessageBus(configuration: .quiet)
        let heard = Journal<String>()
        try bus.subscribe("app://prices/:symbol") { heard.add("\($0.parameters["symbol"] ?? "-")") }
        try bus.expose("app://prices/AAPL", for: .publishing)
        let request = ExternalRequest(url: "app://prices/AAPL", parameters: ["symbol": "MSFT"], origin: .peer)
        #expect(try await bus.publish(request) == 1)
        #expect(heard.entries == ["AAPL"])
    }

    @Test
    func `a configured target is reachable only by the URL that is exposed`() async throws {
        let bus = MessageBus(configuration: .quiet)
        try bus.register("app://inner/:id") { message in "inner \(message.parameters["id"] ?? "-")" }
        try bus.load(["app://outer/:id": "app://inner/:id"])
        try bus.expose("app://outer/**")
        #expect(await self.outcome(bus, "app://outer/3") == "inner 3")
        #expect(await self.outcome(bus, "app://inner/3") == "noRoute")
    }
}
