import Waybill

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
