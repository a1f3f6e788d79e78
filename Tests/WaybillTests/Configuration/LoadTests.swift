import Testing
import Waybill
import WaybillTestSupport

@Suite
struct LoadTests {
    private let bus = MessageBus()

    @Test
    func `a configured target can be a module's action, another route, or a destination`() async throws {
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
    func `a configured route keeps its callers when its line moves in the file`() async throws {
        let gate = Gate()
        let begun = Gate()
        try self.bus.register("app://slow") { _ async -> Int in
            begun.open()
            await gate.wait()
            return 7
        }
        func configuration(line: Int) -> RouteConfiguration {
            let source = RouteConfiguration.Source(file: "order.yaml", line: line, key: "slow")
            return RouteConfiguration([.init(pattern: "app://order", target: "app://slow", source: source)])
        }
        try self.bus.load(configuration(line: 1))
        let bus = self.bus
        let caller = Task { try await bus.route("app://order", as: Int.self) }
        await begun.wait()
        try self.bus.load(configuration(line: 2))
        gate.open()
        #expect(try await caller.value == 7)
        #expect(self.bus.routes.first { $0.pattern.text == "app://order" }?.line == 2)
    }

    @Test
    func `a configured target that is a URL keeps its values, and the message keeps its URL`() async throws {
        try await self.bus.install { CatalogModule() }
        try self.bus.register("app://plain/:a/:b") { message -> String in
            let names = ["a", "b", "c", "d"].map { message.parameters[$0] ?? "-" }
            let tags = message.parameters.all("tag")
            return "\(names.joined(separator: " ")) \(tags) \(message.address.text)"
        }
        try self.bus.load([
            "app://kettle": "app://catalog/product?id=7",
            "app://one": "app://plain/1/2%203?c=4%265",
            "app://two/:b": "app://plain/x/:b?c=y",
            "app://three/:sku/:b": "app://plain/:sku/fixed?d=:b",
            "app://four": "app://two/chained?d=z",
            "app://five/:n": "app://three/:n/q",
        ])
        #expect(try await self.bus.route("app://kettle") == "product 7")
        #expect(try await self.bus.route("app://one") == "1 2 3 4&5 - [] app://one")
        // The target's values take precedence over the message's URL, and the values of the call over both.
        #expect(try await self.bus.route("app://one?a=9&c=9&d=9") == "1 2 3 4&5 9 [] app://one?a=9&c=9&d=9")
        let passed: String = try await self.bus.route("app://one", parameters: ["a": 9])
        #expect(passed == "9 2 3 4&5 - [] app://one")
        #expect(try await self.bus.route("app://two/w") == "x w y - [] app://two/w")
        #expect(try await self.bus.route("app://three/s/t") == "s fixed - t [] app://three/s/t")
        #expect(try await self.bus.route("app://four") == "x chained y z [] app://four")
        #expect(try await self.bus.route("app://five/7") == "7 fixed - q [] app://five/7")
        #expect(self.bus.validate().isEmpty)
    }

    @Test(arguments: RouteTests.Place.allCases, [false, true])
    func `a configured target that is a URL is reached by each kind of delivery`(
        place: RouteTests.Place,
        isSurrounded: Bool
    ) async throws {
        let bus = MessageBus(configuration: .quiet)
        let seen = Journal<String>()
        try bus.register("app://now/:id") { message -> String in
            seen.add(message.parameters["id"] ?? "-")
            return "now \(message.parameters["id"] ?? "-")"
        }
        try bus.register("app://later/:id") { message -> String in
            await Task.yield()
            seen.add(message.parameters["id"] ?? "-")
            return "later \(message.parameters["id"] ?? "-")"
        }
        try bus.load(["app://a": "app://now/1", "app://b": "app://later/2"])
        if isSurrounded { bus.use(Doing { .pass($0) }) }
        try await RouteTests.run(place, bus) {
            #expect(try await bus.route("app://a") == "now 1")
            #expect(try await bus.route("app://b", timeout: .seconds(60)) == "later 2")
            #expect(try await bus.route("app://a").value as? String == "now 1")
            let called: String = try await bus.route("app://b") { (_: Int) in }
            #expect(called == "later 2")
            for url in ["app://a", "app://b"] {
                bus.send(url)
                bus.send(url, parameters: ["x": 1])
                try await bus.enqueue(url)
                for try await reply in bus.replies(to: url) { #expect(reply.isLast) }
            }
        }
        #expect(await bus.settles())
        #expect(seen.entries.filter { $0 == "1" }.count == 6 && seen.entries.filter { $0 == "2" }.count == 6)
        #expect(bus.statistics.sent == bus.statistics.replied)
    }

    @Test
    func `repeated query items of a configured target arrive as they are written`() async throws {
        try self.bus.register("app://tags") { message -> [String] in try message.argument("tag") }
        try self.bus.load(["app://some": "app://tags?tag=a&tag=b"])
        #expect(try await self.bus.route("app://some", as: [String].self) == ["a", "b"])
    }

    @Test
    func `a configured route lists the parameters that a message must still have`() async throws {
        try await self.bus.install { CatalogModule() }
        try self.bus.load([
            "app://kettle": "app://catalog/priced?id=7", "app://p/:sku": "app://catalog/priced?id=:sku",
            "app://q/:id": "Catalog.priced",
        ])
        let parameters = Dictionary(
            uniqueKeysWithValues: self.bus.routeDescriptions.map { route in
                (route.pattern, route.parameters.map { "\($0.name): \($0.type)" })
            }
        )
        #expect(parameters["app://kettle"] == ["currency: String?"])
        #expect(parameters["app://p/:sku"] == ["sku: Int", "currency: String?"])
        #expect(parameters["app://q/:id"] == ["id: Int", "currency: String?"])
    }

    @Test
    func `a target with a connector's scheme is routed to the connector while it is connected`()
        async throws
    {
        let bus = MessageBus(configuration: .quiet)
        try bus.load(["app://manual/:page": "memo://shelf/manual?page=1"])
        let error = await failure { try await bus.route("app://manual/2") }
        #expect(error?.code == .noHandler)
        #expect(error?.message.contains("no route and no connector handles the target `memo://") == true)
        #expect(bus.validate().map(\.code) == [.noHandler] && !bus.canRoute("app://manual/2"))

        let registration = try bus.connect("memo", to: Memos())
        #expect(bus.validate().isEmpty && bus.canRoute("app://manual/2"))
        let text: String = try await bus.route("app://manual/2", parameters: ["body": "b"])
        #expect(text == "memo://shelf/manual?page=1 [\"body\"]")
        let heard = Journal<String>()
        try bus.register("app://home/text") { heard.add(try $0.payload(as: String.self)) }
        _ = await (try bus.route("app://manual/2#home/text")).returnLeg?.outcome
        #expect(heard.count == 1)

        registration.cancel()
        #expect(await failure { try await bus.route("app://manual/2") }?.code == .noHandler)
        try bus.load(["app://manual/:page": "memo://nowhere"])
        try bus.connect("memo", to: Memos())
        #expect(bus.validate().map(\.url) == ["app://manual/:page"] && !bus.canRoute("app://manual/2"))
    }

    @Test(.timeLimit(.minutes(1)))
    func `a target with a connector's scheme is found in a large table that has just changed`() async throws {
        let bus = MessageBus(configuration: .quiet)
        for number in 0..<600 { try bus.register("app://route/\(number)") { _ in } }
        try bus.load(["app://manual/:page": "memo://shelf/manual?page=1"])
        try bus.connect("memo", to: Memos())
        // After a change, messages read a large table under its lock until a copy is worth its cost.
        try bus.register("app://late") { _ in }
        let text: String = try await bus.route("app://manual/2")
        #expect(text == "memo://shelf/manual?page=1 []")
    }

    @Test
    func `a configured target that is not a URL is an error with its line`() {
        let configuration = RouteConfiguration([
            .init(
                pattern: "app://a",
                target: "app://x%FF",
                source: .init(file: "shop.yaml", line: 3, key: "a")
            )
        ])
        let error = #expect(throws: ConfigurationError.self) { try self.bus.load(configuration) }
        #expect(error?.cause?.code == .invalidURL && error?.source.line == 3)
    }

    @Test
    func `a target's values choose the instance of a keyed module as its URL does`() async throws {
        let bus = MessageBus(eventLoops: [self.bus.eventLoop, MessageBus().eventLoop])
        try await bus.install(instances: .keyed(by: "id")) { CatalogModule() }
        for id in 0..<10 {
            try bus.load(["app://here": "app://catalog/place?id=\(id)"])
            let direct: String = try await bus.route("app://catalog/place?id=\(id)")
            #expect(try await bus.route("app://here") == direct)
        }
    }

    @Test
    func `a second configuration replaces the first, and routes in code stay`() async throws {
        try await self.bus.install { CatalogModule() }
        try self.bus.load(["app://a/:id": "Catalog.product", "app://b/:id": "Catalog.product"])
        try self.bus.load(["app://b/:id": "Catalog.product", "app://c/:id": "Catalog.product"])
        #expect(!self.bus.canRoute("app://a/1"))
        #expect(self.bus.canRoute("app://b/1"))
        #expect(self.bus.canRoute("app://c/1"))
        #expect(self.bus.canRoute("app://catalog/product?id=1"))
        #expect(self.bus.routes.count == 6)
    }

    @Test
    func `an invalid configuration changes nothing, and its error has file and line`() async throws {
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
    func `a target fails while its module is not installed, before and afterwards`()
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
    func `loading a configuration again does not disturb waiting callers`() async throws {
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
    func `a bus that has been shut down rejects a configuration`() async throws {
        await self.bus.shutDown()
        let error = #expect(throws: ConfigurationError.self) { try self.bus.load(["app://a": "b"]) }
        #expect(error?.cause?.code == .shutDown)
    }

    @Test
    func `a configured URL leads to the closure that is registered at the time of the call`() async throws {
        try self.bus.load(["app://alias": "app://plain"])
        #expect(await failure { try await self.bus.route("app://alias") }?.code == .noHandler)
        let first = try self.bus.register("app://plain") { _ in "first" }
        #expect(try await self.bus.route("app://alias") == "first")
        first.cancel()
        #expect(await failure { try await self.bus.route("app://alias") }?.code == .noHandler)
        try self.bus.register("app://plain") { _ in "second" }
        #expect(try await self.bus.route("app://alias") == "second")
        self.bus.unregister("app://plain")
        #expect(await failure { try await self.bus.route("app://alias") }?.code == .noHandler)
    }

    @Test
    func `a configured URL can lead to a route that a later line or configuration has`() async throws {
        try await self.bus.install { CatalogModule() }
        // Without the configured routes, this route would handle each of the URLs.
        try self.bus.register("app://:page") { _ in "page" }
        try self.bus.load(
            [
                "app://home": "app://start", "app://start": "app://first/4",
                "app://first/:id": "app://last/:id",
                // The paths of these two URLs are equal.
                "app://sale": "web://sale", "web://sale": "app://first/5",
                // Each of these two leads to the other.
                "app://left/x": "app://right/x", "app://right/x": "app://left/x",
                // A route of code is more specific than the second of these two patterns.
                "app://a": "app://b/1", "app://b/:x": "app://a",
            ],
            named: "pages"
        )
        try self.bus.register("app://b/1") { _ in "code" }
        try self.bus.load(["app://last/:id": "Catalog.product"], named: "catalog")
        #expect(try await self.bus.route("app://home") == "product 4")
        #expect(try await self.bus.route("app://start") == "product 4")
        #expect(try await self.bus.route("app://sale") == "product 5")
        #expect(try await self.bus.route("app://other") == "page")
        #expect(await failure { try await self.bus.route("app://left/x") }?.code == .noHandler)
        #expect(try await self.bus.route("app://a") == "code")
        #expect(try await self.bus.route("app://b/7") == "code")
    }

    @Test
    func `a later configuration replaces the route to which an earlier one leads`() async throws {
        var conventions = RoutingConventions()
        conventions.sameShape = .replaces
        let bus = MessageBus(configuration: .quiet(by: conventions))
        for name in ["one", "two"] { try bus.register("app://\(name)") { _ in name } }
        try bus.load(["app://home": "app://list/1", "app://list/:id": "app://one"], named: "first")
        #expect(try await bus.route("app://home") == "one")
        try bus.load(["app://list/:key": "app://two"], named: "second")
        #expect(try await bus.route("app://home") == "two")
        #expect(try await bus.route("app://list/7") == "two")
        // A route can lead to the route that it replaces.
        try bus.load(["app://two": "app://two?from=itself"], named: "third")
        #expect(try await bus.route("app://list/7") == "two")
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
            ModuleRoute(
                "app://catalog/priced",
                action: "priced",
                parameters: [.init("id", "Int"), .init("currency", "String?")]
            ) { _, message -> String in
                "\(try message.parameters.require("id", as: Int.self)) \(message.parameters["currency"] ?? "")"
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

private struct Memos: Connector {
    nonisolated(nonsending) func route(_ message: Message) async throws -> any Sendable {
        let url = message.address.text.split(separator: "#")[0]
        return "\(url) \(message.parameters.call.keys.sorted())"
    }

    func canRoute(_ address: Address) -> Bool { address.segments.first != "nowhere" }
}
