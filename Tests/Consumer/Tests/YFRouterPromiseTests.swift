import Testing
import Waybill
import WaybillCompatibility

/// The promises of YFRouter, for a program that has migrated from YFRouter.
struct YFRouterPromiseTests {
    private let bus = MessageBus(configuration: .init(defaultScheme: "yf", conventions: .yfRouter))

    private func code(of url: String) async -> RoutingError.Code? {
        do throws(RoutingError) { try await bus.route(url) } catch { return error.code }
        return nil
    }

    @Test func `a passed value takes precedence over the query, and the query over the path`() async throws {
        try bus.register("YF:///feed/:id") { message -> [String] in
            let address = message.address
            return [address.scheme, address.path, address.text] + [message.parameters["id"] ?? ""]
        }
        let url = "YF:///feed/001?scheme=x"
        #expect(try await bus.route(url, as: [String].self) == ["yf", "feed/001", url, "001"])
        let query: [String] = try await bus.route("yf://feed/001?id=002")
        #expect(query.last == "002")
        let call: [String] = try await bus.route("yf://feed/001?id=002", parameters: ["id": "003"])
        #expect(call.last == "003")
    }

    @Test func `an object or a closure can be registered at a URL, and its value fetched`() async throws {
        try bus.register("YF:///settings", object: ["a": 1])
        try bus.register("YF:///alert") { message in "alert \(message.parameters["title"] ?? "")" }
        #expect(try await bus.route("YF://settings", as: [String: Int].self) == ["a": 1])
        #expect(try await bus.route("YF://alert?title=T", as: String.self) == "alert T")
        await #expect(throws: RoutingError.self) { let _: Int = try await bus.route("YF://alert?title=T") }
    }

    @Test func `a URL below a registered one falls back to it if fallback is enabled`() async throws {
        try bus.register("YF:///feed/:id") { message in message.parameters["id"] ?? "" }
        #expect(await self.code(of: "YF:///feed/7/detail") == .noRoute)
        bus.fallsBack = true
        #expect(try await bus.route("YF:///feed/7/detail", as: String.self) == "7")
        bus.fallsBack = false
        #expect(!bus.canRoute("YF:///feed/7/detail"))
    }

    @Test func `the uncaught handler receives a URL without a route`() async throws {
        let (urls, found) = AsyncStream.makeStream(of: String.self)
        bus.setUncaughtHandler { message in found.yield(message.address.path) }
        bus.send("YF:///feed/detail?id=1")
        var iterator = urls.makeAsyncIterator()
        #expect(await iterator.next() == "feed/detail")
    }

    @Test func `canRoute reports URLs and schemes until they are unregistered`() async throws {
        try bus.register("YF:///feed") { _ in }
        try bus.register("YF:///feed/detail") { _ in }
        #expect(bus.canRoute("/feed") && !bus.canOpenURL("/feed") && bus.canOpenURL("yf:///feed"))
        bus.unregister("YF:///feed")
        #expect(!bus.canRoute("YF:///feed") && bus.canRoute("YF:///feed/detail"))
        bus.unregister(scheme: "Yf")
        #expect(!bus.canRoute("YF:///feed/detail"))
    }

    @Test func `a pattern of placeholders belongs to the scheme that was the default then`() async throws {
        try bus.register("/:target/:action") { message in
            "\(message.parameters["target"] ?? "") \(message.parameters["action"] ?? "")"
        }
        #expect(try await bus.route("/user/login", as: String.self) == "user login")
        bus.defaultScheme = "other"
        #expect(!bus.canRoute("/user/login") && bus.canRoute("yf://user/login"))
    }
}
