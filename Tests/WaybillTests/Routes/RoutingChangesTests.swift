import Testing
import Waybill
import WaybillCompatibility
import WaybillEventLoop
import WaybillTestSupport

/// The conventions that can change while a bus runs.
@Suite(.timeLimit(.minutes(1)))
struct RoutingChangesTests {
    let journal = Journal<String>()

    @Test
    func `fallback can be switched while the bus runs`() async throws {
        let bus = MessageBus(configuration: .quiet(by: .yfRouter))
        let registration = try bus.register("app://user/:uid") { "user \($0.parameters["uid"] ?? "")" }
        #expect(!bus.fallsBack)
        #expect(await failure { try await bus.route("app://user/1/avatar") }?.code == .noRoute)
        bus.fallsBack = true
        #expect(bus.fallsBack)
        #expect(try await bus.route("app://user/1/avatar", as: String.self) == "user 1")
        #expect(bus.canRoute("app://user/1/avatar"))
        bus.fallsBack = false
        #expect(!bus.canRoute("app://user/1/avatar"))
        // The registration still refers to its route.
        registration.cancel()
        #expect(!bus.canRoute("app://user/1"))
    }

    @Test
    func `a change of the default scheme applies to all later URLs`() async throws {
        let bus = MessageBus(configuration: .quiet)
        let heard = self.journal
        try bus.register("/user/detail") { _ in "old" }
        try bus.subscribe("news/**") { heard.add($0.address.text) }
        try bus.use(Counting(journal: heard), for: "shop://**")
        try bus.expose("shop://user/**")
        #expect(try await bus.route("user/detail", as: String.self) == "old")
        bus.defaultScheme = "shop"
        #expect(bus.defaultScheme == "shop")
        // Existing registrations keep their scheme.
        #expect(try await bus.route("app://user/detail", as: String.self) == "old")
        #expect(await failure { try await bus.route("user/detail") }?.code == .noRoute)
        try bus.register("/user/detail") { _ in "new" }
        #expect(try await bus.route("user/detail", as: String.self) == "new")
        #expect(try await bus.route("shop://user/detail", as: String.self) == "new")
        #expect(bus.routes.map(\.pattern.scheme).sorted() == ["app", "shop"])
        #expect(heard.entries == ["seen", "seen", "seen"])
        #expect(try await bus.publish("news/today") == 0)
        #expect(try await bus.publish("app://news/today") == 1)
        #expect(bus.exposedOperations(of: "user/detail") == .calls)
        #expect(bus.unregister("app:/user/detail"))
        #expect(!bus.canRoute("app://user/detail") && bus.canRoute("user/detail"))
        bus.defaultScheme = "no scheme"
        #expect(bus.defaultScheme == "shop")
    }

    @Test
    func `a configured route keeps the default scheme of the time when it was loaded`() async throws {
        let bus = MessageBus(configuration: .quiet)
        try bus.register("app://target") { _ in "target" }
        try bus.load(["/first": "app://target"], named: "first")
        bus.defaultScheme = "shop"
        // Each load binds the routes of all configurations again.
        try bus.load(["/second": "app://target"], named: "second")
        #expect(try await bus.route("app://first") == "target")
        #expect(try await bus.route("/second") == "target")
        #expect(!bus.canRoute("/first") && !bus.canRoute("app://second"))
    }

    @Test
    func `a hidden route keeps its scheme when the default scheme changes`() async throws {
        let bus = MessageBus(configuration: .quiet(by: .yfRouter))
        try bus.register("/target") { _ in "target" }
        let registration = try bus.register("/home/page") { _ in "code" }
        try bus.load(["/home/page": "app://target"])
        #expect(try await bus.route("/home/page") == "target")
        bus.defaultScheme = "shop"
        // An empty configuration replaces the first one, so the hidden route is restored.
        try bus.load([:])
        #expect(try await bus.route("app://home/page") == "code")
        #expect(!bus.canRoute("/home/page"))
        registration.cancel()
        try bus.register("app://home/page") { _ in "later" }
        #expect(try await bus.route("app://home/page") == "later")
    }

    @Test
    func `URLs of a scheme are refused before it is registered and after it is unregistered`() async throws {
        let bus = MessageBus(configuration: .quiet(by: .ftRouter))
        #expect(await failure { try await bus.route("ft://market/detail") }?.code == .refused)
        try bus.register(scheme: "FT")
        #expect(await failure { try await bus.route("ft://market/detail") }?.code == .noRoute)
        try bus.register("ft://market/detail") { _ in 1 }
        #expect(try await bus.route("ft://market/detail", as: Int.self) == 1)
        #expect(bus.unregister(scheme: "FT") == 1)
        #expect(await failure { try await bus.route("ft://market/detail") }?.code == .refused)
        // A scheme without routes can be unregistered, and so can the default scheme.
        #expect(await failure { try await bus.route("app://x") }?.code == .noRoute)
        bus.unregister(scheme: "app")
        #expect(await failure { try await bus.route("/x") }?.code == .refused)
        #expect(throws: RoutingError.self) { try bus.register(scheme: "https://") }
    }

    @Test
    func `the uncaught handler gets the parameters of the route above the URL`() async throws {
        let bus = MessageBus(configuration: .quiet(by: .yfRouter))
        let heard = self.journal
        try bus.register("/:target/:action") {
            "\($0.parameters["target"] ?? "").\($0.parameters["action"] ?? "")"
        }
        #expect(try await bus.route("/user/detail", as: String.self) == "user.detail")
        bus.setUncaughtHandler { message in
            heard.add(
                "\(message.parameters["target"] ?? "-") \(message.parameters["action"] ?? "-") "
                    + "\(message.parameters["q"] ?? "-")"
            )
        }
        #expect(await failure { try await bus.route("/a/b/c?q=1") }?.code == .noRoute)
        #expect(await eventually { heard.entries == ["a b 1"] })
        #expect(await failure { try await bus.route("other://a/b/c") }?.code == .noRoute)
        #expect(await eventually { heard.entries == ["a b 1", "- - -"] })
    }

    @Test
    func `the uncaught handler gets publications without subscribers only if requested`() async throws {
        let bus = MessageBus(configuration: .quiet)
        let heard = self.journal
        bus.setUncaughtHandler { heard.add("never \($0.address.text)") }
        #expect(try await bus.publish("app://news?n=1") == 0)
        bus.setUncaughtHandler(includingPublished: true) { heard.add($0.parameters["n"] ?? "") }
        #expect(try await bus.publish("app://news?n=2") == 0)
        #expect(try await bus.publish("app://news", parameters: ["n": 3]) == 0)
        #expect(await eventually { heard.entries == ["2", "3"] })
        #expect(bus.statistics.sent == 0 && bus.statistics.deadLettered == 0)
    }

    @Test
    func `canOpenURL is true only for a routable URL with a registered scheme`() throws {
        let bus = MessageBus(configuration: .quiet(by: .yfRouter))
        try bus.register("/user/detail") { _ in 1 }
        #expect(bus.canRoute("/user/detail") && bus.canRoute("app://user/detail"))
        #expect(!bus.canOpenURL("/user/detail") && !bus.canOpenURL("APP://user/detail"))
        #expect(!bus.canOpenURL("app://nowhere") && !bus.canOpenURL(""))
        var configuration = MessageBus.Configuration.quiet
        configuration.limits.urlLength = 20_000
        let patient = MessageBus(configuration: configuration)
        try patient.register("app://long/**") { _ in 1 }
        #expect(patient.canOpenURL("app://long/\(String(repeating: "x", count: 10_000))"))
    }
}

private struct Counting: Middleware {
    let journal: Journal<String>

    nonisolated(nonsending) func handle(
        _ message: Message,
        context: borrowing MiddlewareContext,
        next: borrowing Next
    ) async throws -> any Sendable {
        self.journal.add("seen")
        return try await next(message)
    }
}
