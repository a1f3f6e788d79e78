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

let bus = MessageBus()
try await bus.install { Menu() }

let price: Int = try await bus.route("app://menu/price?drink=espresso")
print("An espresso costs \(price) cents.")

do {
    try await bus.route("app://menu/price?drink=beer")
} catch {
    print(error)
}
