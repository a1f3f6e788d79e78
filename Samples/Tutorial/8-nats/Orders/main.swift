import Waybill
import WaybillNATS

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
try await bus.install { Orders() }

let node = bus.join(NATSTransport(servers: [CommandLine.arguments[1]], realm: "cafe"))
try await node.start()

do {
    let order: String = try await bus.route("app://orders/place?drink=tea&count=2")
    print(order)
} catch {
    print(error)
}

// The node tells the others that it leaves.
node.beginGracefulShutdown()
try await node.run()
