import Testing
import Waybill
import WaybillDocuments

/// An error of a module, with values in one case.
enum OrderError: ModuleError, Equatable {
    case unknown(id: Int)
    case closed

    static var examples: [OrderError] { [.unknown(id: 7), .closed] }

    var message: String { "the order cannot be placed" }
    var status: Int { 404 }
}

/// An error of a module that implements only its message.
enum ShopError: String, ModuleError, CaseIterable {
    case closed

    var message: String { "the shop is closed" }
}

/// An error that is not an enumeration.
struct LimitError: ModuleError {
    let limit: Int

    var message: String { "at most \(self.limit) are sold" }
}

@Module("app://orders")
actor OrderModule {
    @Route("/:id") func order(id: Int) throws(OrderError) -> Int { throw .unknown(id: id) }
    @Route("/shop/open") func open() throws -> Int { throw ShopError.closed }

    /// A route that is written by hand, with the errors that it throws.
    static let byHand = ModuleRoute<OrderModule>("app://orders/by/hand", action: "byHand") { _, _ in }
        .throwing(ShopError.self)
}

struct ModuleErrorTests {
    @Test func `a caller receives the declared errors of a module`() async throws {
        let bus = MessageBus()
        try await bus.install { OrderModule() }
        do throws(RoutingError) {
            let order: Int = try await bus.route("app://orders/99")
            Issue.record("\(order)")
        } catch {
            #expect(
                error.declared(as: OrderError.self) == .unknown(id: 99) && error.declaredCode == "unknown"
            )
            #expect(error.chain.errors.count == 2 && error.chain.description.contains("handlerFailed"))
        }
        await #expect(throws: ShopError.closed) {
            let _: Int = try await bus.route("app://orders/shop/open", throwing: ShopError.self)
        }
        #expect(ShopError.name == "ShopError" && ShopError.closed.code == "closed")
        #expect(LimitError.examples.isEmpty && LimitError(limit: 3).code == "LimitError")
        #expect(ShopError.closed.status == 422 && ShopError.examples == [.closed])
    }

    @Test func `a document lists the errors that a route declares`() async throws {
        let bus = MessageBus()
        try await bus.install { OrderModule() }
        let route = try #require(bus.document().routes.first { $0.pattern == "app://orders/:id" })
        let first = try #require(route.failures.first)
        #expect(first.name == "OrderError" && first.code == "unknown" && first.status == 404)
        #expect(
            first
                == RouteDescription.Failure(
                    name: "OrderError",
                    code: "unknown",
                    message: first.message,
                    status: 404
                )
        )
        #expect(OrderModule.byHand.description.failures.map(\.code) == ["closed"])
    }

    @Test func `a program adds a readiness check of its own`() async throws {
        let bus = MessageBus()
        #expect(await bus.readiness(within: .seconds(5)).isReady)
        let check = bus.addReadinessCheck("disk") { "it is full" }
        let readiness = await bus.readiness()
        #expect(
            readiness.problems.map(\.name) == ["disk"] && readiness.problems.map(\.reason) == ["it is full"]
        )
        check.cancel()
        #expect(await bus.readiness().problems.isEmpty)
    }
}
