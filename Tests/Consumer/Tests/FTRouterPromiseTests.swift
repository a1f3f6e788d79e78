import Testing
import Waybill
import WaybillCompatibility
import WaybillConfiguration
import WaybillNavigation
import WaybillRouting

/// The promises of FTRouter, for a program that has migrated from FTRouter.
struct FTRouterPromiseTests {
    private let bus = MessageBus(configuration: .init(defaultScheme: "ft", conventions: .ftRouter))

    private func code(_ body: () async throws -> Void) async -> RoutingError.Code? {
        do { try await body() } catch { return (error as? RoutingError)?.code }
        return nil
    }

    struct Detail: Codable, Sendable, Equatable, CustomStringConvertible {
        var symbol = "-"
        var price = 9.5
        var description: String { "\(self.symbol) at \(self.price)" }
    }

    @Test func `a scheme is registered by itself, by a route, or as the default scheme`() async throws {
        try bus.register("market/detail") { _ in "detail" }
        try bus.register("qq://chat") { _ in "chat" }
        #expect(try await bus.route("FT://market/detail", as: String.self) == "detail")
        #expect(try await bus.route("qq://chat", as: String.self) == "chat")
        #expect(await code { try await bus.route("wx://chat") } == .refused)
        try bus.register(scheme: "wx")
        #expect(await code { try await bus.route("wx://chat") } == .noRoute)
        bus.unregister(scheme: "wx")
        #expect(await code { try await bus.route("wx://chat") } == .refused)
    }

    @Test func `configurations are loaded by name, and unloading one restores the route in code`()
        async throws
    {
        try bus.register("a/b") { _ in "code" }
        try bus.load(["account/setting": "A"], named: "account", destinations: ["A": { _ in "A" }])
        try bus.load(["order/flash": "B", "a/b": "B"], named: "order", destinations: ["B": { _ in "B" }])
        #expect(try await bus.route("account/setting", as: String.self) == "A")
        #expect(try await bus.route("order/flash", as: String.self) == "B")
        #expect(try await bus.route("a/b", as: String.self) == "B")
        try bus.load([:], named: "order")
        #expect(try await bus.route("a/b", as: String.self) == "code")
        #expect(bus.canRoute("account/setting") && !bus.canRoute("order/flash"))
        #expect(throws: ConfigurationError.self) { try bus.load(["x": ""]) }
    }

    @Test func `parameters set a value's properties, and the other properties keep their defaults`()
        async throws
    {
        try bus.register("market/detail") { message in try message.decode(onto: Detail()) }
        #expect(try await bus.route("market/detail?symbol=WB&x=y", as: Detail.self) == Detail(symbol: "WB"))
        let passed: Detail = try await bus.route("market/detail", parameters: ["price": 1.5])
        #expect(passed == Detail(price: 1.5))
    }

    @Test func `a caller answers the destination, whose reply is sent to the followed URL`() async throws {
        let seen = Log()
        try bus.register("contract/edit") { message async throws -> String in
            try await message.reply(with: ["b", "a"], expecting: [String].self).joined()
        }
        try bus.register("home/receipt") { seen.add(try $0.payload(as: String.self)) }
        let end: String = try await bus.route("present/contract/edit") { (names: [String]) in names.sorted() }
        #expect(end == "ab")
        let reply = try await bus.route("present/contract/edit#home/receipt") { (names: [String]) in names }
        _ = await reply.returnLeg?.outcome
        #expect(seen.entries == ["ba"])
    }

    @Test func `the handler block sees every URL, and the uncaught handler sees the followed URL`()
        async throws
    {
        try bus.register("market/detail") { _ in "detail" }
        let block = bus.use(handlerBlock: { components in
            components.destination == nil && components.query["answer"] != nil ? components.path : nil
        })
        #expect(try await bus.route("push/market/detail?answer=1", as: String.self) == "detail")
        #expect(try await bus.route("push/no/where?answer=1", as: String.self) == "no/where")
        let (urls, found) = AsyncStream.makeStream(of: String?.self)
        bus.setUncaughtHandler { message in
            found.yield(FTRouterComponents(message, destination: nil).followedURL)
        }
        #expect(await code { try await bus.route("no/where#home/receipt") } == .noRoute)
        var iterator = urls.makeAsyncIterator()
        #expect(await iterator.next() == "ft:///home/receipt")
        block.cancel()
    }

    @Test func `transitions select what the presenter shows, and inspectors stop or replace it`() async throws
    {
        let presenter = WordPresenter()
        let navigator = try Navigator(bus: bus, presenter: presenter)
        try navigator.load(
            ["market/list": "List", "market/detail": "Detail"],
            named: "market",
            destinations: ["List": { _ in "list" }, "Detail": { try $0.decode(onto: Detail()) }]
        )
        let seen = Log()
        navigator.addInspector(
            shouldTransition: { request, source in request.query["stop"] == nil },
            willTransition: { request, source in request.query["supply"] },
            didTransition: { request, _ in seen.add(request.path) }
        )
        try navigator.setGlobalHandler(uncaughtOf: ["ft"]) { request in
            request.destinationName == nil && !request.segments.isEmpty ? .handled(request.path) : .proceed
        }
        try await bus.route("root/market/list")
        try await bus.route("push/market/detail?symbol=A&days=3", parameters: ["animated": true])
        try await bus.route("present/market/detail?supply=another")
        #expect(await presenter.words == ["list", "A at 9.5", "another"])
        #expect(await code { try await bus.route("push/market/detail?stop=1") } == .refused)
        #expect(try await bus.route("ft://push/no/where", as: String.self) == "no/where")
        try await bus.route("back/market/detail?symbol=A")
        #expect(await presenter.words == ["list", "A at 9.5"] && seen.entries.count == 5)
        #expect(await presenter.animated == [nil, true, nil, nil])
    }
}
