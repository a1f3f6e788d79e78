import Testing
import Waybill

@Suite
struct LoadTests {
    private let bus = MessageBus()

    @Test
    func `a target is a module's action, another route, or a destination`() async throws {
        try await self.bus.install { CatalogModule() }
        try self.bus.register("app://plain") { _ in "plain" }
        try self.bus.load(
            [
                "app://a/:id": "Catalog.product",
                "app://b/:id": "CatalogModule.product",
                "catalog://product/:id": "product",
                "app://c": "app://plain",
                "app://d/:id": "Profile",
            ],
            destinations: [
                "Profile": { message in "profile of \(try message.parameters.require("id") as Int)" }
            ]
        )
        #expect(try await self.bus.route("app://a/1") == "product 1")
        #expect(try await self.bus.route("app://b/2") == "product 2")
        #expect(try await self.bus.route("catalog://product/3") == "product 3")
        #expect(try await self.bus.route("app://c") == "plain")
        #expect(try await self.bus.route("app://d/4") == "profile of 4")
    }

    @Test
    func `a second configuration takes the place of the first, and code's routes stay`() async throws {
        try await self.bus.install { CatalogModule() }
        try self.bus.load(["app://a/:id": "Catalog.product", "app://b/:id": "Catalog.product"])
        try self.bus.load(["app://b/:id": "Catalog.product", "app://c/:id": "Catalog.product"])
        #expect(!self.bus.canRoute("app://a/1"))
        #expect(self.bus.canRoute("app://b/1"))
        #expect(self.bus.canRoute("app://c/1"))
        #expect(self.bus.canRoute("app://catalog/product?id=1"))
        #expect(self.bus.routes.count == 5)
    }

    @Test
    func `what is wrong changes nothing and says where it is`() async throws {
        try await self.bus.install { CatalogModule() }
        try self.bus.load(["app://a/:id": "Catalog.product"])
        let broken = RouteConfiguration([
            .init(pattern: "app://b/:id", target: "Catalog.product"),
            .init(
                pattern: "app://c/(/",
                target: "Catalog.product",
                source: .init(file: "shop.yaml", line: 7, key: "product")
            ),
        ])
        let error = #expect(throws: ConfigurationError.self) { try self.bus.load(broken) }
        #expect(error?.cause?.code == .invalidPattern)
        #expect(error?.description.hasPrefix("shop.yaml:7: `product`: ") == true)
        #expect(self.bus.canRoute("app://a/1"))
        #expect(!self.bus.canRoute("app://b/1"))

        let rival = #expect(throws: ConfigurationError.self) {
            try self.bus.load(["app://catalog/product": "Catalog.product"])
        }
        #expect(rival?.cause?.code == .conflict)
        #expect(self.bus.canRoute("app://a/1"))
    }

    @Test
    func `a target that is not there fails until its module is installed, and again when it has gone`()
        async throws
    {
        try self.bus.load(["app://a/:id": "Catalog.product"])
        #expect(!self.bus.canRoute("app://a/1"))
        let error = await #expect(throws: RoutingError.self) { try await self.bus.route("app://a/1") }
        #expect(error?.code == .noHandler)
        #expect(error?.message.contains("Catalog.product") == true)

        let installation = try await self.bus.install { CatalogModule() }
        #expect(try await self.bus.route("app://a/1") == "product 1")
        installation.cancel()
        #expect(!self.bus.canRoute("app://a/1"))
        await #expect(throws: RoutingError.self) { try await self.bus.route("app://a/1") }
    }

    @Test
    func `loading again does not disturb who waits`() async throws {
        try await self.bus.install { CatalogModule() }
        let configuration: RouteConfiguration = ["app://slow": "Catalog.slow"]
        try self.bus.load(configuration)
        let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
        let (end, ending) = AsyncStream.makeStream(of: Void.self)
        let waiting = Task {
            try await self.bus.route(
                "app://slow",
                parameters: ["begun": beginning, "end": end],
                as: String.self
            )
        }
        for await _ in begun { break }
        try self.bus.load(["app://slow": "Catalog.slow", "app://more/:id": "Catalog.product"])
        ending.finish()
        #expect(try await waiting.value == "slow")
    }

    @Test
    func `a configured route of a keyed module keeps each key on its instance`() async throws {
        let bus = MessageBus(eventLoops: [self.bus.eventLoop, MessageBus().eventLoop])
        try await bus.install(instances: .keyed(by: "id")) { CatalogModule() }
        try bus.load(["app://where/:id": "Catalog.place"])
        for id in 0..<10 {
            let direct: String = try await bus.route("app://catalog/place?id=\(id)")
            #expect(try await bus.route("app://where/\(id)") == direct)
        }
    }

    @Test
    func `a bus that has been shut down takes no configuration`() async throws {
        await self.bus.shutDown()
        let error = #expect(throws: ConfigurationError.self) { try self.bus.load(["app://a": "b"]) }
        #expect(error?.cause?.code == .shutDown)
    }
}

private actor CatalogModule: Module {
    static let url = "app://catalog"
    nonisolated let context = ModuleContext.current

    static var routes: [ModuleRoute<CatalogModule>] {
        [
            ModuleRoute("app://catalog/product", action: "product") { _, message -> String in
                "product \(try message.parameters.require("id", as: Int.self))"
            },
            ModuleRoute("app://catalog/place", action: "place") { module, _ in
                "\(ObjectIdentifier(module.eventLoop))"
            },
            ModuleRoute("app://catalog/slow", action: "slow") { _, message -> String in
                let begun: AsyncStream<Void>.Continuation = try message.argument("begun")
                let end: AsyncStream<Void> = try message.argument("end")
                begun.yield()
                for await _ in end {}
                return "slow"
            },
        ]
    }
}
