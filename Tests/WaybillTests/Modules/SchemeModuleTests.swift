#if Macros
import Testing
import Waybill
import WaybillCompatibility
import WaybillTestSupport

/// A module whose base URL is a whole scheme.
@Module("order://")
actor OrdersOfScheme {
    @Route func detail(id: Int) -> Int { id * 2 }
    @Route("pay/:id") func pay(id: Int, with method: String = "cash") -> String { "\(id) by \(method)" }
    @Route func all() async throws -> [Int] { [1, 2] }
}

struct SchemeModuleTests {
    private let bus = MessageBus(configuration: .quiet)

    @Test
    func `a module's base URL can be a scheme without a path`() async throws {
        try await self.bus.install { OrdersOfScheme() }
        #expect(
            self.bus.routes.map(\.pattern.text).sorted() == [
                "order://all", "order://detail", "order://pay/:id",
            ]
        )
        #expect(try await self.bus.route("order://detail?id=7", as: Int.self) == 14)
        #expect(try await self.bus.route("order://pay/7?method=card", as: String.self) == "7 by card")
        #expect(try await self.bus.route(OrdersOfScheme.urls.pay(id: 8)) == "8 by cash")
        #expect(try await self.bus.route(OrdersOfScheme.urls.detail(id: 3)) == 6)
        #expect(try await self.bus.route("order://all", as: [Int].self) == [1, 2])
    }

    @Test
    func `a module connected by convention needs no entry for its URLs`() async throws {
        try await self.bus.install { OrdersOfScheme() }
        try self.bus.connect("ordersofscheme", to: NativeConnector(modulesOf: self.bus, target: .scheme))
        #expect(try await self.bus.route("OrdersOfScheme://detail?id=7", as: Int.self) == 14)
    }
}
#endif
