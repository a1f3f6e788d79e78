import Testing
import Waybill
import WaybillCompatibility
import WaybillEventLoop
import WaybillRouting
import WaybillTestSupport

@Suite(.timeLimit(.minutes(1)))
struct ConnectorTests {
    let bus = MessageBus(configuration: .quiet)

    /// A connector that replies with the URL that it receives.
    static let mirror = StubConnector { $0.address.text }

    @Test(arguments: RouteTests.Place.allCases)
    func `a connector receives the URLs of its scheme that match no route`(
        place: RouteTests.Place
    ) async throws {
        try self.bus.connect("memo", to: Self.mirror)
        try self.bus.register("memo://pinned/:id") { $0.parameters["id"] ?? "" }
        let bus = self.bus
        for url in ["memo://a//b/?x=%41#C", "MEMO:", "memo://", "memo:///", "memo://h:80/%2F/../ü?a&a#"] {
            let text: String = try await RouteTests.run(place, bus) { try await bus.route(url) }
            #expect(text == url)
        }
        let routed: String = try await RouteTests.run(place, bus) { try await bus.route("memo://pinned/7") }
        #expect(routed == "7")
        #expect(bus.statistics.replied == 6 && bus.statistics.inFlight == 0)
    }

    @Test func `a connector receives parameters, headers and deadline, and can return any value`()
        async throws
    {
        try self.bus.connect(
            "memo",
            to: StubConnector { message in
                #expect(message.parameters["page"] == "2" && message.headers["user"] == "7")
                #expect(message.parameters.call["count"] as? Int == 3)
                #expect(message.deadline != nil)
                return [1, 2]
            }
        )
        let numbers: [Int] = try await self.bus.route(
            "memo://a?page=2",
            parameters: ["count": 3],
            headers: ["user": "7"],
            deadline: .now + .seconds(30)
        )
        #expect(numbers == [1, 2])
        try self.bus.connect("void", to: StubConnector { _ in () })
        let _: Void = try await self.bus.route("void:x")
        let mismatch = await failure { try await self.bus.route("void:x", as: Int.self) }
        #expect(mismatch?.code == .typeMismatch)
    }

    @Test func `a connector can be an actor`() async throws {
        try self.bus.connect("count", to: CountingConnector())
        #expect(try await self.bus.route("count:", as: Int.self) == 1)
        #expect(try await self.bus.route("count://a/b", as: Int.self) == 2)
    }

    static let presets: [(RoutingConventions, String)] = [
        (.waybill, "waybill"), (.yfRouter, "yf"), (.ftRouter, "ft"), (.cocRouter, "coc"), (.zikRouter, "zik"),
    ]

    @Test(arguments: Self.presets)
    func `a connector works under each preset of conventions`(
        conventions: RoutingConventions,
        name: String
    ) async throws {
        var configuration = MessageBus.Configuration.quiet
        configuration.conventions = conventions
        let bus = MessageBus(configuration: configuration)
        let before = await failure { try await bus.route("memo://a/b") }
        #expect(before?.code == (conventions.schemeMustBeRegistered ? .refused : .noRoute))
        #expect(before?.message.contains("`memo`") == true)
        let long = "memo:/" + String(repeating: "/a", count: 40)
        #expect(await failure { try await bus.route(long) }?.code == before?.code)
        let registration = try bus.connect("memo", to: Self.mirror)
        for url in ["memo://a/b", "memo:", "memo://", "memo://x.y.z/push/**/:id?q", "memo:///"] {
            #expect(try await bus.route(url, as: String.self) == url)
            #expect(bus.canRoute(url))
        }
        bus.send("memo://sent")
        #expect(await bus.settles())
        #expect(bus.statistics.replied == 6)
        registration.cancel()
        #expect(await failure { try await bus.route("memo://a/b") }?.code == before?.code)
        #expect(!bus.canRoute("memo://a/b"))
    }

    @Test func `a connected scheme has the case and the aliases of the conventions`() async throws {
        var configuration = MessageBus.Configuration.quiet
        configuration.conventions = .cocRouter
        let aliased = MessageBus(configuration: configuration)
        try aliased.connect("http", to: Self.mirror)
        #expect(try await aliased.route("https://a", as: String.self) == "https://a")
        #expect(aliased.connectedSchemes == ["https"])
        configuration.conventions = .zikRouter
        let exact = MessageBus(configuration: configuration)
        try exact.connect("Memo", to: Self.mirror)
        #expect(exact.canRoute("Memo://a") && !exact.canRoute("memo://a"))
        #expect(exact.unregister(scheme: "mEMO") == 1 && !exact.canRoute("Memo://a"))
    }

    @Test func `the default scheme can be connected`() async throws {
        try self.bus.connect("app", to: Self.mirror)
        #expect(try await self.bus.route("user/detail", as: String.self) == "user/detail")
        #expect(try await self.bus.route("//", as: String.self) == "//")
    }

    @Test func `canRoute asks the connector of the URL's scheme`() async throws {
        var picky = Self.mirror
        picky.reaches = { $0.segments.first == "known" }
        try self.bus.connect("memo", to: picky)
        #expect(self.bus.canRoute("memo://known/x") && !self.bus.canRoute("memo://unknown"))
        #expect(!self.bus.canRoute("other://known") && !self.bus.canRoute(""))
        await self.bus.eventLoop.shutDown()
        #expect(!self.bus.canRoute("memo://known/x"))
    }

    @Test func `routes, connected schemes and statistics include connectors`() async throws {
        try self.bus.register("memo://a") { _ in 1 }
        try self.bus.connect("memo", to: StubConnector { _ in throw RoutingError.refused("no") })
        try self.bus.connect("Note", to: Self.mirror, fileID: "Here/There.swift", line: 7)
        #expect(self.bus.routes.map { "\($0.pattern)" } == ["memo://a"])
        #expect(self.bus.connectedSchemes == ["memo", "note"])
        _ = try await self.bus.route("note://x")
        _ = await failure { try await self.bus.route("memo://b") }
        let routes = self.bus.routeStatistics
        #expect(routes.map(\.pattern) == ["memo://a", "memo:", "note:"])
        #expect(routes[1].counts.failed == 1 && routes[2].counts.replied == 1)
        #expect(routes[2].fileID == "Here/There.swift" && routes[2].line == 7)
        #expect(self.bus.unregister(scheme: "MEMO") == 2)
        #expect(self.bus.connectedSchemes == ["note"] && self.bus.routes.isEmpty)
    }

    @Test func `the error of an unknown scheme lists the known schemes`() async throws {
        try self.bus.register("app://user/detail") { _ in 1 }
        try self.bus.connect("https", to: Self.mirror)
        let error = try #require(await failure { try await self.bus.route("zzz://user/detail") })
        #expect(error.code == .noRoute)
        #expect(error.message.contains("`zzz`") && error.message.contains("app, https"))
        #expect(error.message.contains(#"bus.connect("zzz", to:)"#))
        let known = try #require(await failure { try await self.bus.route("app://user/detial") })
        #expect(known.message == "no pattern matches; did you mean app://user/detail?")
        self.bus.unregister("app://user/detail")
        let emptied = try #require(await failure { try await self.bus.route("app://user/detail") })
        #expect(emptied.message.contains("`app`") && emptied.message.contains("known schemes: https"))
        let lonely = MessageBus(configuration: .quiet)
        #expect(await failure { try await lonely.route("x") }?.message.contains("no scheme is known") == true)
    }

    @Test(arguments: ["", "https://", "a b", "1a", "é", "a\nb"])
    func `connecting an invalid scheme fails with invalidPattern`(scheme: String) {
        let error = #expect(throws: RoutingError.self) { try self.bus.connect(scheme, to: Self.mirror) }
        #expect(error?.code == .invalidPattern && self.bus.connectedSchemes.isEmpty)
        #expect(error.map { !"\($0)".contains("\n") } == true)
    }

    @Test func `a hostile URL is answered or fails, and leaves no message in flight`() async throws {
        try self.bus.connect("memo", to: Self.mirror)
        let long = "memo://" + String(repeating: "a", count: 100_000)
        let deep = "memo:" + String(repeating: "/a", count: 5_000)
        for url in ["", long, deep, "memo://%FF%FE", "memo:?" + String(repeating: "a&", count: 2_000)] {
            #expect(await failure { try await self.bus.route(url) } != nil)
            #expect(!self.bus.canRoute(url))
        }
        for url in ["memo://\u{0}\u{1b}[31m", "memo://%", "memo://%zz?%=%", "memo:::::", "memo://@:[]"] {
            #expect(await failure { try await self.bus.route(url) } == nil)
        }
        #expect(self.bus.statistics.inFlight == 0)
    }
}
