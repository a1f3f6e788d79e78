import Testing
import Waybill
import WaybillCompatibility
import WaybillEventLoop

@Suite
struct ValidateTests {
    private let bus = MessageBus()

    @Test
    func `validate finds no problem in a correct bus`() throws {
        try self.bus.register("app://user/:id") { _ in 1 }
        try self.bus.register("app://user/me") { _ in 1 }
        try self.bus.register("app://user/<int:id>/**") { _ in 1 }
        try self.bus.register("app://file/{name}.jpg") { _ in 1 }
        try self.bus.register("app://code/:id(\\d+|[a-f]{2,})") { _ in 1 }
        #expect(self.bus.validate(urls: ["app://user/1#user/2#user/me"]).isEmpty)
    }

    @Test
    func `validate finds a pattern that another pattern hides, and names both`() throws {
        try self.bus.register("app://user/:id") { _ in 1 }
        try self.bus.register("app://user/*") { _ in 2 }
        let problems = self.bus.validate()
        #expect(problems.map(\.code) == [.conflict])
        #expect(problems.first?.url == "app://user/*")
        #expect(problems.first?.message.contains("`app://user/:id`") == true)
    }

    @Test
    func `validate finds COCRouter patterns that an earlier pattern hides`() throws {
        let bus = MessageBus(configuration: .init(conventions: .cocRouter))
        try bus.register("order://<any>/") { _ in 1 }
        try bus.register("order://detail/") { _ in 2 }
        #expect(bus.validate().map(\.url) == ["order://detail/"])
    }

    @Test
    func `validate finds a configured target that does not exist`() throws {
        try self.bus.load(["app://a": "Nobody.action"])
        let problems = self.bus.validate()
        #expect(problems.map(\.code) == [.noHandler])
        #expect(problems.first?.url == "app://a")
        #expect(problems.first?.message.contains("Nobody.action") == true)
    }

    @Test
    func `validate finds a handler whose loop has shut down`() async throws {
        let loop = EventLoop()
        let bus = MessageBus(eventLoop: loop)
        try bus.register("app://a") { _ in 1 }
        await loop.shutDown()
        #expect(bus.validate().map(\.code) == [.noHandler])
    }

    @Test
    func `validate finds URLs and return URLs without a route`() throws {
        try self.bus.register("app://order/pay") { _ in 1 }
        let problems = self.bus.validate(urls: [
            "app://order/pai", "app://order/pay#home/receipt", "app://x%FF",
        ])
        #expect(problems.map(\.code) == [.noRoute, .noRoute, .invalidURL])
        #expect(problems[0].message.contains("app://order/pay"))
        #expect(problems[1].url == "app://home/receipt")
    }

    @Test
    func `validate ends for a return URL that leads back to itself`() throws {
        try self.bus.register("app://a") { _ in 1 }
        let nested = "app://a" + String(repeating: "#app://a", count: 40)
        #expect(self.bus.validate(urls: [nested]).isEmpty)
    }

    @Test(arguments: [
        ("app://c/:sku", "Item.show", true), ("app://c/:id", "Item.show", false),
        ("app://c", "Item.show", false),
        ("app://c/:sku/:id", "Item.show", false), ("app://c/:sku", "app://item/show?id=1", false),
        ("app://c/:sku", "app://item/show?id=:sku", false), ("app://c/:sku", "app://item/show", true),
        ("app://c/:sku", "Item.plain", false),
    ])
    func `validate finds a pattern whose parameter has another name than the action's`(
        pattern: String,
        target: String,
        isProblem: Bool
    ) async throws {
        try await self.bus.install { ItemModule() }
        try self.bus.load(
            RouteConfiguration([
                .init(pattern: pattern, target: target, source: .init(file: "shop.yaml", line: 2))
            ])
        )
        let problems = self.bus.validate()
        #expect(problems.map(\.code) == (isProblem ? [.missingParameter] : []))
        guard isProblem else { return }
        #expect(problems[0].url == pattern)
        #expect(problems[0].message == "`\(target)` needs `id`, and the pattern provides `sku` (shop.yaml:2)")
    }
}

private actor ItemModule: Module {
    static let url = "app://item"
    nonisolated let context = ModuleContext.current

    static var routes: [ModuleRoute<ItemModule>] {
        let parameters: [RouteDescription.Parameter] = [
            .init("id", "Int"), .init("size", "Int", default: "1"),
        ]
        return [
            ModuleRoute("app://item/show", action: "show", parameters: parameters) { _, _ in 1 },
            ModuleRoute("app://item/plain", action: "plain") { _, _ in 1 },
        ]
    }
}
