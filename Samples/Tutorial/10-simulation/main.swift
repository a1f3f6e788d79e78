import Waybill
import WaybillSimulation

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
    private(set) var number = 0

    /// Places an order.
    @Route func place(drink: String, count: Int = 1) async throws -> String {
        let price: Int = try await self.bus.route("app://menu/price", parameters: ["drink": drink])
        self.number += 1
        return "order \(self.number): \(count) x \(drink), \(count * price) cents"
    }
}

do {
    try await simulate(seeds: 1...1_000, faults: Faults(delay: .upTo(.seconds(1)), failure: 0.02)) { world in
        _ = try await world.node("menu") { bus in try await bus.install { Menu() } }
        let cafe = try await world.node("orders") { bus in try await bus.install { Orders() } }

        world.always("two guests have at most two orders") { await cafe.module(Orders.self).number <= 2 }

        try await world.clients(2) { guest, random in
            let order = "app://orders/place?drink=\(random.pick(["espresso", "tea"]))"
            do {
                try await guest.route(order)
            } catch {
                // The defect: the guest orders again, although the first order may have been placed.
                try await guest.route(order)
            }
        }
    }
} catch {
    print(error)
}
