import Waybill

@Module("app://menu")
actor Menu {
    private let prices = ["espresso": 250, "tea": 300]

    /// Returns the price of a drink in cents.
    @Route func price(drink: String) throws -> Int {
        guard let price = self.prices[drink] else { throw RoutingError.refused("the menu has no \(drink)") }
        return price
    }
}

@Module("app://orders")
actor Orders {
    private var number = 0

    /// Places an order.
    ///
    /// The module knows the URL of the menu, and not the module behind it.
    @Route func place(drink: String, count: Int = 1) async throws -> String {
        let price: Int = try await self.bus.route("app://menu/price", parameters: ["drink": drink])
        self.number += 1
        return "order \(self.number): \(count) x \(drink), \(count * price) cents"
    }
}

let bus = MessageBus()
try await bus.install { Menu() }
try await bus.install { Orders() }

let order: String = try await bus.route("app://orders/place?drink=tea&count=2")
print(order)

do {
    try await bus.route("app://orders/place?drink=beer")
} catch {
    print(error)
}
