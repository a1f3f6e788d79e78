import Hummingbird
import Waybill
import WaybillHTTP
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

// Without this line, the URLs of the bus do not exist for other processes. A read is a GET request.
try bus.expose("app://menu/**", for: [.calls, .reads])

let router = Router()
router.addRoutes(WaybillGateway(bus).routes, atPath: "/bus")

// The system chooses a free port.
var server = Application(
    router: router,
    configuration: .init(address: .hostname("127.0.0.1", port: 0)),
    onServerRunning: { channel in
        if let port = channel.localAddress?.port { print("http://127.0.0.1:\(port)/bus") }
    }
)
server.addServices(RPCServer(bus, listening: .unix(CommandLine.arguments[1])))
try await server.runService()
