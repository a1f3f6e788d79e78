#if Macros
import Testing
import Waybill
import WaybillRouting
import WaybillTestSupport

@testable import WaybillCompatibility

/// Modules and targets that are found by their names alone.
@Suite(.timeLimit(.minutes(1)))
struct ConventionTests {
    @Test
    func `a URL that names only the target calls its default action`() async throws {
        let bus = MessageBus(configuration: .quiet(by: .nativeConnector))
        var actions = Actions()
        try actions.declare("", of: "Target_User", values: .optional) { "home \($0.parameters["q"] ?? "-")" }
        try actions.declare("detail", of: "UserController", values: .none) { _ in "detail" }
        try bus.connect("native", to: NativeConnector(actions))
        #expect(try await bus.route("native://user", as: String.self) == "home -")
        #expect(try await bus.route("native://User?q=1", as: String.self) == "home 1")
        #expect(try await bus.route("native://UserModule/detail", as: String.self) == "detail")
        #expect(await failure { try await bus.route("native://order") }?.code == .noHandler)
        #expect(await failure { try await bus.route("Native://user") }?.code == .noRoute)
    }
    @Test
    func `with the scheme as the target, modules are found by their names`() async throws {
        let bus = MessageBus(configuration: .quiet)
        try await bus.install { OrderController() }
        try bus.connect("order", to: NativeConnector(modulesOf: bus, target: .scheme))
        #expect(try await bus.route("order://detail?id=7", as: Int.self) == 7)
        #expect(try await bus.route("ORDER://detail/?id=8", as: Int.self) == 8)
        #expect(try await bus.route("order://", as: String.self) == "orders")
        #expect(bus.canRoute("order://detail?id=7") && !bus.canRoute("order://nothing"))
        let error = await failure { try await bus.route("order://details?id=7") }
        #expect(error?.code == .noHandler && error?.message.contains("did you mean `detail`?") == true)
    }

    @Test
    func `targets whose names differ only in case are found in the order of their names`() throws {
        for names in [["ORDER", "Order", "OrDeR"], ["OrDeR", "Order", "ORDER"]] {
            var actions = Actions()
            for name in names { try actions.declare("show", of: name, values: .none) { _ in name } }
            let found = try actions.find(try Address("order://show"), hasValues: false, isSchemeTarget: true)
            #expect(found.target == "ORDER")
        }
    }

    @Test
    func `connectModules connects each scheme that a module is named for`() async throws {
        let bus = MessageBus(configuration: .quiet)
        try await bus.install { OrderController() }
        try await bus.install { NoteController() }
        try bus.connect("Note", to: Refusing())
        let registrations = try bus.connectModules()
        #expect(registrations.map(\.pattern) == ["order:"])
        #expect(bus.connectedSchemes == ["note", "order"])
        #expect(try await bus.route("order://detail?id=7", as: Int.self) == 7)
        #expect(await failure { try await bus.route("note://plain") }?.code == .refused)
        try await bus.install { CatalogModule() }
        #expect(try bus.connectModules().map(\.pattern) == ["catalog:"])
        #expect(try await bus.route("catalog://product?id=7", as: Int.self) == 7)
        for registration in registrations { registration.cancel() }
        #expect(await failure { try await bus.route("order://detail?id=7") }?.code == .noRoute)
    }

    @Test(arguments: [NativeConnector.Target.firstSegment, .scheme])
    func `a method that takes the message is called with and without values`(
        target: NativeConnector.Target
    ) async throws {
        let bus = MessageBus(configuration: .quiet)
        try await bus.install { NoteController() }
        try bus.connect("note", to: NativeConnector(modulesOf: bus, target: target))
        let prefix = target == .scheme ? "note://" : "note://note/"
        for (query, keys) in [("", 0), ("?a=1", 1), ("?a=1&b=2", 2)] {
            #expect(try await bus.route("\(prefix)dict\(query)", as: Int.self) == keys)
            #expect(bus.canRoute("\(prefix)dict\(query)"))
        }
        #expect(try await bus.route("\(prefix)dict", parameters: ["a": 1], as: Int.self) == 1)
        // A method without parameters is still not called with values.
        #expect(try await bus.route("\(prefix)plain", as: String.self) == "plain")
        #expect(await failure { try await bus.route("\(prefix)plain?a=1") }?.code == .noHandler)
        // A method that needs a further value is not called without values.
        #expect(await failure { try await bus.route("\(prefix)titled") }?.code == .noHandler)
    }

    @Test
    func `a module can have a property named context`() async throws {
        let bus = MessageBus(configuration: .quiet)
        let module = try await bus.install { ReceiptController() }.module
        #expect(try await bus.route("app://receipts/show?id=7", as: String.self) == "context 7")
        #expect(module.eventLoop === bus.eventLoop)
    }

    @Test
    func `a module can have its own scheme, without a prefix in its URLs`() async throws {
        let bus = MessageBus(configuration: .quiet)
        try await bus.install { StockModule() }
        #expect(bus.routes.map(\.pattern.text).sorted() == ["stock://", "stock://take"])
        #expect(try await bus.route("stock://take?name=kettle", as: Int.self) == 2)
        #expect(try await bus.route("STOCK:///take/?name=kettle", as: Int.self) == 1)
        #expect(try await bus.route("stock://", as: Int.self) == 1)
        #expect(await failure { try await bus.route("app://take?name=kettle") }?.code == .noRoute)
    }

    @Test
    func `a component without the bus as a dependency can be registered from outside`() async throws {
        let bus = MessageBus(configuration: .quiet)
        let shelf = Shelf()
        try bus.register("shelf://take/:name") { await shelf.take(try $0.parameters.require("name")) }
        try bus.register("shelf://count", object: shelf)
        #expect(try await bus.route("shelf://take/kettle", as: Int.self) == 2)
        #expect(try await bus.route("shelf://count", as: Shelf.self).take("kettle") == 1)
    }

    @Test
    func `a configured selector calls the method with its base name`() async throws {
        let bus = MessageBus(configuration: .quiet)
        try await bus.install { CatalogModule() }
        try bus.load(["shop://a/:id": "Catalog.product:", "shop://b/:id": "CatalogController.product:in:"])
        #expect(try await bus.route("shop://a/7", as: Int.self) == 7)
        #expect(try await bus.route("shop://b/8", as: Int.self) == 8)
    }

    @Test(arguments: [
        ("Catalog.product", true), ("Target_Catalog.product", true), ("catalog.product", true),
        ("CATALOG.product", true), ("Catalog.Product", false), ("", false),
    ])
    func `a configured target finds a module by its short or full name`(
        target: String,
        isFound: Bool
    ) async throws {
        let bus = MessageBus(configuration: .quiet)
        try await bus.install { CatalogModule() }
        let configuration: RouteConfiguration = ["shop://product/:id": target]
        if target.isEmpty {
            let error = #expect(throws: ConfigurationError.self) { try bus.load(configuration) }
            #expect(error?.description.contains("the target is empty") == true)
            return
        }
        try bus.load(configuration)
        #expect(bus.canRoute("shop://product/7") == isFound)
    }
}

private struct Refusing: Connector {
    nonisolated(nonsending) func route(_ message: Message) async throws -> any Sendable {
        throw RoutingError.refused("all of them")
    }
}

/// A component that uses neither the bus nor a URL.
private actor Shelf {
    private var pieces = ["kettle": 3]

    func take(_ name: String) -> Int {
        self.pieces[name, default: 0] -= 1
        return self.pieces[name] ?? 0
    }
}

@Module("stock://")
private actor StockModule {
    private var pieces = 3

    @Route func take(name: String) -> Int {
        self.pieces -= 1
        return self.pieces
    }

    @Route("/") func count() -> Int { self.pieces }
}

@Module("app://orders")
private actor OrderController {
    @Route func detail(id: Int) -> Int { id }
    @Route("/") func all() -> String { "orders" }
}

@Module("app://notes")
private actor NoteController {
    @Route func dict(_ message: Message) -> Int { message.parameters.all.count }
    @Route func plain() -> String { "plain" }
    @Route func titled(title: String, _ message: Message) -> String { title }
}

/// A module with its own property `context`, as the controllers of COCRouter have.
@Module("app://receipts")
private actor ReceiptController {
    private var context = "context"

    @Route func show(id: Int) -> String {
        self.context += " \(id)"
        return self.context
    }
}

@Module("app://catalog")
private actor CatalogModule {
    @Route func product(id: Int) -> Int { id }
}
#endif
