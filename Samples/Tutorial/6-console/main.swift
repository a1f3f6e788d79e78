import Hummingbird
import Waybill
import WaybillConsole

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
    @Route func place(drink: String, count: Int = 1) async throws -> String {
        let price: Int = try await self.bus.route("app://menu/price", parameters: ["drink": drink])
        self.number += 1
        return "order \(self.number): \(count) x \(drink), \(count * price) cents"
    }
}

let bus = MessageBus()
try await bus.install { Menu() }
try await bus.install { Orders() }

// Without these lines, the page shows no values and cannot call routes.
var configuration = WaybillConsole.Configuration()
configuration.showsPayloads = true
configuration.allowsActions = true
let console = WaybillConsole(bus, configuration: configuration)

let router = Router()
router.addRoutes(console.routes, atPath: "/console")
let server = Application(
    router: router,
    configuration: .init(address: .hostname("127.0.0.1", port: 0)),
    onServerRunning: { channel in
        if let port = channel.localAddress?.port {
            print(console.link(at: "http://127.0.0.1:\(port)/console"))
        }
    }
)
try await server.runService()
