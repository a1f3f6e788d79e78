import Testing
import Waybill
import WaybillCompatibility

@Module("app://accounts")
actor AccountModule {
    @Route func detail(uid: Int, name: String) -> String { "\(uid) \(name)" }
    @Route func userCenter() -> String { "nobody" }
    @Route func dict(_ message: Message) -> Int { message.parameters.query.count }
}

/// Refuses secret paths, and returns the number of segments of any other.
struct PathConnector: Connector {
    func willRoute(_ message: Message) async throws {
        if message.address.segments.contains("secret") { throw RoutingError.refused("not that one") }
    }

    func route(_ message: Message) async throws -> any Sendable { message.address.segments.count }
}

/// The promises of LiliCode's Router, for a program that has migrated from it.
struct LiliCodePromiseTests {
    private let bus = MessageBus(configuration: .init(conventions: .nativeConnector))

    private func failure(of url: String) async -> RoutingError? {
        do throws(RoutingError) { try await bus.route(url) } catch { return error }
        return nil
    }

    @Test func `an action is called with values, without values, and with all parameters`() async throws {
        try await bus.install { AccountModule() }
        try bus.connect("native", to: NativeConnector(modulesOf: bus))
        #expect(try await bus.route("native://account/detail?name=L&uid=2", as: String.self) == "2 L")
        #expect(try await bus.route("native://Account/userCenter", as: String.self) == "nobody")
        #expect(try await bus.route("native://account/dict?a=1&b=2", as: Int.self) == 2)
        #expect(try await bus.route("native://account/dict", as: Int.self) == 0)
        let missing = await self.failure(of: "native://account/details?uid=1")
        #expect(missing?.code == .noHandler && missing?.message.contains("`details`") == true)
        let target = await self.failure(of: "native://nobody/detail?uid=1")
        #expect(target?.code == .noHandler && target?.message.contains("`nobody`") == true)
        #expect(await self.failure(of: "other://account/detail")?.code == .noRoute)
    }

    @Test func `an action can be declared without a module`() async throws {
        var actions = Actions()
        try actions.declare("log", of: "Target_tool", values: .none) { _ in }
        try actions.declare("log", of: "Target_tool", values: .needed) { $0.parameters["text"] ?? "" }
        try bus.connect("app", to: NativeConnector(actions))
        #expect(try await bus.route("app://tool/log").value is Void)
        #expect(try await bus.route("app://tool/log?text=hi", as: String.self) == "hi")
    }

    @Test func `a web URL opens in the configured destination, and a connector can refuse a URL`()
        async throws
    {
        try bus.connect("http", to: WebDestination(nil, on: bus))
        try bus.connect("https", to: WebDestination { message in "opened \(message.address.text)" })
        #expect(
            try await bus.route("https://example.com/a?b=c", as: String.self)
                == "opened https://example.com/a?b=c"
        )
        #expect(await self.failure(of: "http://example.com/")?.code == .noHandler)
        try bus.connect("test", to: PathConnector())
        #expect(try await bus.route("test://a/b/c", as: Int.self) == 3)
        #expect(await self.failure(of: "test://a/secret")?.code == .refused)
    }
}
