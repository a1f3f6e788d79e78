import Waybill
import WaybillServe

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

// Without this line, the URLs of the bus do not exist for other processes.
try bus.expose("app://menu/**")
let server = RPCServer(bus, listening: .unix(CommandLine.arguments[1]))
try await server.run()
