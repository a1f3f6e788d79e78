import Waybill
import WaybillNATS

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

// Without this line, the URLs of the bus do not exist for other nodes.
try bus.share("app://menu/**")

let node = bus.join(NATSTransport(servers: [CommandLine.arguments[1]], realm: "cafe"))
try await node.start()
print("The menu has joined.")
try await node.run()
