import Testing
import Waybill
import WaybillRouting
import WaybillTestSupport

@Suite(.timeLimit(.minutes(1)))
struct NamedConfigurationTests {
    private let bus = MessageBus(configuration: .quiet)

    /// Conventions by which a later route of the same shape replaces an earlier one, as FTRouter's do.
    private static var replacing: RoutingConventions {
        var conventions = RoutingConventions.waybill
        conventions.sameShape = .replaces
        return conventions
    }

    private static func says(_ word: String) -> MessageBus.Destination { { _ in word } }

    /// Returns the answer of a bus to `app://a/b`, or nil when no route matches that URL.
    private static func answer(of bus: MessageBus) async throws -> String? {
        guard bus.canRoute("app://a/b") else { return nil }
        return try await bus.route("app://a/b", as: String.self)
    }

    @Test
    func `configurations of different names add up, and loading a name replaces only its own`() async throws {
        try self.bus.load(["app://plain": "P"], destinations: ["P": Self.says("plain")])
        try self.bus.load(["account/setting": "A"], named: "account", destinations: ["A": Self.says("A")])
        try self.bus.load(["order/flash": "B"], named: "order", destinations: ["B": Self.says("B")])
        #expect(try await self.bus.route("app://account/setting") == "A")
        #expect(try await self.bus.route("app://order/flash") == "B")

        try self.bus.load(["order/slow": "C"], named: "order", destinations: ["C": Self.says("C")])
        #expect(try await self.bus.route("app://order/slow") == "C")
        #expect(!self.bus.canRoute("app://order/flash") && self.bus.canRoute("app://account/setting"))
        try self.bus.load([:])
        #expect(!self.bus.canRoute("app://plain") && self.bus.canRoute("app://order/slow"))
        try self.bus.load([:], named: "order")
        #expect(self.bus.routes.map(\.pattern.text) == ["account/setting"])
    }

    @Test
    func `a conflict of two configurations names the other configuration`() throws {
        try self.bus.load(["app://a/b": "A"], named: "first", destinations: ["A": Self.says("A")])
        let error = #expect(throws: ConfigurationError.self) {
            try self.bus.load(["app://c": "C", "app://a/b": "B"], named: "second")
        }
        #expect(error?.cause?.code == .conflict)
        #expect(error?.message.contains("configuration `first`") == true)
        #expect(self.bus.routes.map(\.pattern.text) == ["app://a/b"])
    }

    @Test
    func `a target can be a route of another configuration`() async throws {
        try self.bus.load(
            ["app://a/:id": "A"],
            named: "a",
            destinations: ["A": { "a \($0.parameters["id"]!)" }]
        )
        try self.bus.load(["app://b": "app://a/7"], named: "b")
        #expect(try await self.bus.route("app://b") == "a 7")
        try self.bus.load(
            ["app://a/:id": "A"],
            named: "a",
            destinations: ["A": { "A \($0.parameters["id"]!)" }]
        )
        #expect(try await self.bus.route("app://b") == "A 7")
        try self.bus.load([:], named: "a")
        #expect(await failure { try await self.bus.route("app://b") }?.code == .noHandler)
    }

    @Test
    func `a route in code that a configuration replaces returns when the configuration goes`() async throws {
        let bus = MessageBus(configuration: .quiet(by: Self.replacing))
        let registration = try bus.register("a/b") { _ in "code" }
        for _ in 0..<2 {
            try bus.load(["a/b": "X"], destinations: ["X": Self.says("X")])
            #expect(try await Self.answer(of: bus) == "X")
            try bus.load([:])
            #expect(try await Self.answer(of: bus) == "code")
        }
        registration.cancel()
        #expect(try await Self.answer(of: bus) == nil)
    }

    @Test(arguments: ["hidden", "back"])
    func `a cancelled registration stays away, whether its route is hidden or has returned`(
        state: String
    ) async throws {
        let bus = MessageBus(configuration: .quiet(by: Self.replacing))
        let registration = try bus.register("a/b") { _ in "code" }
        try bus.load(["a/b": "X"], destinations: ["X": Self.says("X")])
        if state == "back" { try bus.load([:]) }
        registration.cancel()
        #expect(try await Self.answer(of: bus) == (state == "back" ? nil : "X"))
        try bus.load([:])
        #expect(try await Self.answer(of: bus) == nil)
    }

    @Test
    func `callers that wait for a route continue to wait when a configuration hides it`() async throws {
        let bus = MessageBus(configuration: .quiet(by: Self.replacing))
        let (begun, goOn) = (Gate(), Gate())
        try bus.register("a/b") { _ -> String in
            begun.open()
            await goOn.wait()
            return "code"
        }
        let first = Task { try await bus.route("app://a/b", as: String.self) }
        await begun.wait()
        try bus.load(["a/b": "X"], destinations: ["X": Self.says("X")])
        let second = Task { try await bus.route("app://a/b", as: String.self) }
        #expect(try await second.value == "X")
        goOn.open()
        #expect(try await first.value == "code")
    }

    @Test func `a hidden route that matches the URLs of a later route from code does not return`()
        async throws
    {
        let bus = MessageBus(configuration: .quiet(by: Self.replacing))
        try bus.register("a(/b)") { _ in "earlier" }
        try bus.load(["a": "X"], destinations: ["X": Self.says("X")])
        let later = try bus.register("a/b") { _ in "later" }
        try bus.load([:])
        #expect(try await Self.answer(of: bus) == "later")
        later.cancel()
        #expect(try await Self.answer(of: bus) == nil)
    }

    @Test
    func `a route that code registers over a configured one is used until the next load`()
        async throws
    {
        let bus = MessageBus(configuration: .quiet(by: Self.replacing))
        try bus.load(["a/b": "X"], destinations: ["X": Self.says("X")])
        try bus.register("a/b") { _ in "code" }
        #expect(try await Self.answer(of: bus) == "code")
        // The load resolves the targets of all configurations again.
        try bus.load(["c": "C"], named: "another", destinations: ["C": Self.says("C")])
        #expect(try await Self.answer(of: bus) == "code")
        try bus.load(["a/b": "X"], destinations: ["X": Self.says("X")])
        #expect(try await Self.answer(of: bus) == "X")
        try bus.load([:])
        #expect(try await Self.answer(of: bus) == "code")
    }

    @Test
    func `the later of two configurations with one pattern hides the earlier`() async throws {
        let bus = MessageBus(configuration: .quiet(by: Self.replacing))
        try bus.register("a/b") { _ in "code" }
        try bus.load(["a/b": "X"], named: "x", destinations: ["X": Self.says("X")])
        try bus.load(["a/b": "Y"], named: "y", destinations: ["Y": Self.says("Y")])
        #expect(try await Self.answer(of: bus) == "Y")
        try bus.load([:], named: "y")
        #expect(try await Self.answer(of: bus) == "X")
        try bus.load([:], named: "x")
        #expect(try await Self.answer(of: bus) == "code")
    }

    @Test
    func `a configured route that is unregistered returns only when its configuration is loaded again`()
        async throws
    {
        try self.bus.load(["app://a/b": "X"], destinations: ["X": Self.says("X")])
        #expect(self.bus.unregister("app://a/b"))
        try self.bus.load(["app://c": "C"], named: "another", destinations: ["C": Self.says("C")])
        #expect(try await Self.answer(of: self.bus) == nil)
        try self.bus.load(["app://a/b": "X"], destinations: ["X": Self.says("X")])
        #expect(try await Self.answer(of: self.bus) == "X")
    }
}
