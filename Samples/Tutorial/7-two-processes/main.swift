import Waybill
import WaybillServe

@Module("app://orders")
actor Orders {
    private var number = 0

    /// Places an order.
    ///
    /// The menu may be in this process or in another one.
    @Route func place(drink: String, count: Int = 1) async throws -> String {
        let price: Int = try await self.bus.route("app://menu/price", parameters: ["drink": drink])
        self.number += 1
        return "order \(self.number): \(count) x \(drink), \(count * price) cents"
    }
}

let bus = MessageBus()
try await bus.install { Orders() }

// URLs of the scheme `app` without a route in this process are sent to the server of step 5.
try bus.connect("app", to: RPCConnector(.unix(CommandLine.arguments[1])))

do {
    let order: String = try await bus.route("app://orders/place?drink=tea&count=2")
    print(order)
} catch {
    print(error)
}
