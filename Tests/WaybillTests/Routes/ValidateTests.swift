import Testing
import Waybill
import WaybillCompatibility
import WaybillEventLoop

@Suite
struct ValidateTests {
    private let bus = MessageBus()

    @Test
    func `a bus where all is well has no problems`() throws {
        try self.bus.register("app://user/:id") { _ in 1 }
        try self.bus.register("app://user/me") { _ in 1 }
        try self.bus.register("app://user/<int:id>/**") { _ in 1 }
        try self.bus.register("app://file/{name}.jpg") { _ in 1 }
        try self.bus.register("app://code/:id(\\d+|[a-f]{2,})") { _ in 1 }
        #expect(self.bus.validate(urls: ["app://user/1#user/2#user/me"]).isEmpty)
    }

    @Test
    func `a pattern that another one hides is named with its rival`() throws {
        try self.bus.register("app://user/:id") { _ in 1 }
        try self.bus.register("app://user/*") { _ in 2 }
        let problems = self.bus.validate()
        #expect(problems.map(\.code) == [.conflict])
        #expect(problems.first?.url == "app://user/*")
        #expect(problems.first?.message.contains("`app://user/:id`") == true)
    }

    @Test
    func `the first of COCRouter's patterns hides later ones`() throws {
        let bus = MessageBus(configuration: .init(conventions: .cocRouter))
        try bus.register("order://<any>/") { _ in 1 }
        try bus.register("order://detail/") { _ in 2 }
        #expect(bus.validate().map(\.url) == ["order://detail/"])
    }

    @Test
    func `a target of the configuration that is not there is a route without a handler`() throws {
        try self.bus.load(["app://a": "Nobody.action"])
        let problems = self.bus.validate()
        #expect(problems.map(\.code) == [.noHandler])
        #expect(problems.first?.url == "app://a")
        #expect(problems.first?.message.contains("Nobody.action") == true)
    }

    @Test
    func `a handler whose loop has stopped is none`() async throws {
        let loop = EventLoop()
        let bus = MessageBus(eventLoop: loop)
        try bus.register("app://a") { _ in 1 }
        await loop.shutDown()
        #expect(bus.validate().map(\.code) == [.noHandler])
    }

    @Test
    func `validation finds URLs and return URLs without a route`() throws {
        try self.bus.register("app://order/pay") { _ in 1 }
        let problems = self.bus.validate(urls: [
            "app://order/pai", "app://order/pay#home/receipt", "app://x%FF",
        ])
        #expect(problems.map(\.code) == [.noRoute, .noRoute, .invalidURL])
        #expect(problems[0].message.contains("app://order/pay"))
        #expect(problems[1].url == "app://home/receipt")
    }

    @Test
    func `a return URL that leads back to itself ends`() throws {
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
    func `a value that the pattern calls by another name than the action is found`(
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
