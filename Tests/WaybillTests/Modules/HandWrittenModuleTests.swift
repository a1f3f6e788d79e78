import FoundationEssentials
import Testing
import Waybill
import WaybillEventLoop
import WaybillTestSupport

@Suite
struct HandWrittenModuleTests {
    @Test
    func `the routes of a module written by hand are registered together and read their arguments`()
        async throws
    {
        let bus = MessageBus()
        let installation = try await bus.install { Mixer() }
        let mixed: String = try await bus.route(
            "app://mixer/mix/7?color=red&on=2026-11-21T08:30:00Z&id=1&id=2",
            parameters: ["done": { (text: String) in text + "!" } as @Sendable (String) -> String]
        )
        #expect(mixed == "7 red 2026-11-21T08:30:00Z [1, 2] -!")
        let error = await #expect(throws: RoutingError.self) {
            try await bus.route("app://mixer/mix/7?color=mauve&on=2026-11-21T08:30:00Z")
        }
        #expect(error?.code == .invalidParameter)
        #expect(error?.message == "expected Color, but `color` is String \"mauve\"")
        installation.cancel()
        #expect(!bus.canRoute("app://mixer/mix/7"))
    }

    @Test
    func `no route of a module is registered if one of them is in conflict`() async throws {
        let bus = MessageBus()
        try bus.register("app://mixer/plain") { _ in 1 }
        await #expect(throws: RoutingError.self) { try await bus.install { Mixer() } }
        #expect(!bus.canRoute("app://mixer/mix/7"))
        #expect(bus.routes.count == 1)
    }

    @Test
    func `a module with an invalid pattern replaces no route`() async throws {
        var configuration = MessageBus.Configuration.quiet
        configuration.conventions.sameShape = .replaces
        let bus = MessageBus(configuration: configuration)
        try bus.register("app://torn/page") { _ in "old" }
        let error = await #expect(throws: RoutingError.self) { try await bus.install { TornBook() } }
        #expect(error?.code == .invalidPattern)
        #expect(try await bus.route("app://torn/page", as: String.self) == "old")
    }

    @Test
    func `a module does not retain its bus`() async throws {
        var bus: MessageBus? = MessageBus()
        let mixer = try await bus?.install { Mixer() }.module
        bus = nil
        let error = await #expect(throws: RoutingError.self) {
            try await mixer?.bus.route("app://mixer/plain")
        }
        #expect(error?.code == .shutDown)
    }

    @Test
    func `a module that is not installed can still be called as an actor`() async throws {
        #expect(await Mixer().plain() == 1)
    }
}

private enum Color: String { case red, green }

private actor Mixer: Module {
    static let url = "app://mixer"
    nonisolated let context = ModuleContext.current

    func mix(
        _ id: Int,
        _ color: Color,
        _ on: Date,
        _ ids: [Int],
        _ name: String,
        _ done: @escaping @Sendable (String) -> String
    ) -> String {
        done("\(id) \(color) \(on.urlParameter) \(ids) \(name)")
    }

    func plain() -> Int { 1 }

    static var routes: [ModuleRoute<Mixer>] {
        [
            ModuleRoute("app://mixer/mix/:n", action: "mix") { mixer, message in
                mixer.mix(
                    try message.argument("n"),
                    try message.argument("color"),
                    try message.argument("on"),
                    try message.argument("id"),
                    try message.argument("name") ?? "-",
                    try message.argument("done")
                )
            },
            ModuleRoute("app://mixer/plain", action: "plain") { mixer, _ in mixer.plain() },
        ]
    }
}

/// A module with a valid pattern, and an invalid one after it.
private actor TornBook: Module {
    static let url = "app://torn"
    nonisolated let context = ModuleContext.current

    static var routes: [ModuleRoute<TornBook>] {
        [
            ModuleRoute("app://torn/page", action: "page") { _, _ in "new" },
            ModuleRoute("app://torn/%ff", action: "cover") { _, _ in "new" },
        ]
    }
}
