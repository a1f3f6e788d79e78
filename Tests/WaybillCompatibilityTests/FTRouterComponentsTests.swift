import Testing
import Waybill
import WaybillCompatibility
import WaybillRouting
import WaybillTestSupport

@Suite(.timeLimit(.minutes(1)))
struct FTRouterComponentsTests {
    /// A bus with FTRouter's conventions, whose uncaught handler receives every URL.
    private func components(
        of url: String,
        host: RoutingConventions.Host = .isFirstSegmentUnlessDotted
    ) async throws -> FTRouterComponents {
        var configuration = MessageBus.Configuration.quiet(by: .ftRouter)
        configuration.conventions.host = host
        configuration.defaultScheme = "ft"
        let bus = MessageBus(configuration: configuration)
        let seen = Journal<FTRouterComponents>()
        bus.setUncaughtHandler { seen.add(FTRouterComponents($0)) }
        _ = await failure { try await bus.route(url, parameters: ["days": 5]) }
        #expect(await eventually { seen.count == 1 })
        return try #require(seen.entries.first)
    }

    @Test(arguments: [
        ("ft://market/detail", nil as String?, "market/detail", nil as String?),
        ("FT://PUSH/market/detail/", nil, "market/detail", "push"),
        ("ft://example.com/market/detail", "example.com", "market/detail", nil),
        ("ft://example.com/present/market", "example.com", "market", "present"),
        ("ft:///v1.2/list", nil, "v1.2/list", nil), ("market//detail", nil, "market/detail", nil),
        ("/back/market", nil, "market", "back"), ("root/%E5%80%BC", nil, "值", "root"),
        ("ft://push", nil, "", "push"),
    ])
    func `FTRouterComponents separates host, path and transition`(
        url: String,
        host: String?,
        path: String,
        transition: String?
    ) async throws {
        let components = try await self.components(of: url)
        #expect(components.scheme == "ft" && components.host == host)
        #expect(components.path == path && components.transition == transition)
        #expect(components.segments.joined(separator: "/") == path)
    }

    @Test(arguments: [
        (RoutingConventions.Host.isIgnored, "ft://push/x", "push" as String?, nil as String?, "x"),
        (.isIgnored, "ft://market/root/x", "market", "root", "x"), (.isIgnored, "push/x", nil, "push", "x"),
        (.isFirstSegment, "ft://example.com/x", nil, nil, "example.com/x"),
    ])
    func `the host convention separates the host, which is never a transition`(
        choice: RoutingConventions.Host,
        url: String,
        host: String?,
        transition: String?,
        path: String
    ) async throws {
        let components = try await self.components(of: url, host: choice)
        #expect(components.host == host && components.transition == transition && components.path == path)
    }

    @Test func `values of the URL and of the call are merged, and a passed value wins`() async throws {
        let components = try await self.components(of: "ft://a?days=1&name=b&name=c")
        #expect(components.query == ["days": "1", "name": "b"])
        #expect(components.parameters["days"] as? Int == 5 && components.parameters.count == 1)
        #expect(components.values["days"] as? Int == 5 && components.values["name"] as? String == "b")
    }

    @Test(arguments: [
        (
            RoutingConventions.Host.isFirstSegmentUnlessDotted, "//example.com/receipt",
            "example.com" as String?
        ),
        (.isFirstSegmentUnlessDotted, "ft://example.com/receipt", "example.com"),
        (.isIgnored, "//home/receipt", "home"), (.isIgnored, "ft://home/receipt", "home"),
        (.isIgnored, "/receipt", nil), (.isFirstSegmentUnlessDotted, "/receipt", nil),
    ])
    func `a followed URL keeps its host`(
        choice: RoutingConventions.Host,
        fragment: String,
        host: String?
    ) async throws {
        var configuration = MessageBus.Configuration.quiet(by: .ftRouter)
        configuration.conventions.host = choice
        let bus = MessageBus(configuration: configuration)
        let seen = Journal<FTRouterComponents>()
        try bus.register("ft:///pay") { FTRouterComponents($0).followedURL }
        try bus.register("ft:///receipt") { seen.add(FTRouterComponents($0)) }
        let reply = try await bus.route("ft:///pay#\(fragment)")
        guard case .delivered? = await reply.returnLeg?.outcome else {
            Issue.record("the value is lost")
            return
        }
        #expect(seen.entries.map(\.host) == [host] && seen.entries.map(\.path) == ["receipt"])
    }

    @Test func `the uncaught handler receives the followed URL, and can send a value to it`() async throws {
        var configuration = MessageBus.Configuration.quiet(by: .ftRouter)
        configuration.defaultScheme = "ft"
        let bus = MessageBus(configuration: configuration)
        let (seen, received) = (Journal<String?>(), Journal<Int>())
        bus.setUncaughtHandler { message in
            seen.add(FTRouterComponents(message).followedURL)
            message.sendReturn(42)
        }
        try bus.register("home/receipt") { received.add(try $0.payload(as: Int.self)) }
        #expect(await failure { try await bus.route("ft://no/where#home/receipt") }?.code == .noRoute)
        bus.send("ft://no/where#home/receipt")
        #expect(await eventually { received.entries == [42, 42] })
        #expect(seen.entries == ["ft:///home/receipt", "ft:///home/receipt"])
    }

    @Test func `a handler block receives every URL with its destination, and can answer`() async throws {
        var configuration = MessageBus.Configuration.quiet(by: .ftRouter)
        configuration.defaultScheme = "ft"
        let bus = MessageBus(configuration: configuration)
        let seen = Journal<String>()
        try bus.register("market/detail") { _ in "detail" }
        let block = bus.use(handlerBlock: { components in
            seen.add("\(components.path) \(components.destination ?? "-") \(components.followedURL ?? "-")")
            return components.destination == nil ? "no \(components.path)" : nil
        })
        let reply = try await bus.route("ft://push/market/detail#home/receipt")
        _ = await reply.returnLeg?.outcome
        #expect(reply.value as? String == "detail")
        #expect(try await bus.route("ft://market/nothing", as: String.self) == "no market/nothing")
        block.cancel()
        #expect(await failure { try await bus.route("ft://market/nothing") }?.code == .noRoute)
        #expect(
            seen.entries == [
                "market/detail market/detail ft:///home/receipt", "home/receipt - -", "market/nothing - -",
            ]
        )
    }
}
