#if Macros
internal import Waybill
package import WaybillSimulation

// A shop without a known defect, whose runs are measured.

@Module("app://shelves")
actor Shelves {
    private(set) var stock = 150

    @Route func take() async throws -> Bool {
        guard self.stock > 0 else { return false }
        self.stock -= 1
        return true
    }

    @Route func putBack() async { self.stock += 1 }
}

@Module("app://cashier")
actor Cashier {
    private(set) var paid: Set<Int> = []

    @Route func pay(order: Int) async throws {
        try await Task.sleep(for: .milliseconds(20))
        self.paid.insert(order)
    }
}

@Module("app://orders")
actor Orders {
    private(set) var open = 0

    @Route func place(order: Int) async throws -> Bool {
        self.open += 1
        defer { self.open -= 1 }
        let isTaken: Bool = try await self.bus.route("app://shelves/take")
        guard isTaken else { return false }
        do {
            try await self.bus.route("app://cashier/pay?order=\(order)")
        } catch {
            self.bus.send("app://shelves/putBack")
            throw error
        }
        self.bus.send("app://letters/write?order=\(order)")
        return true
    }
}

@Module("app://letters")
actor Letters {
    private(set) var count = 0

    @Route func write(order: Int) async { self.count += 1 }
}

/// A shop with 20 customers with 10 orders each, and all faults.
package enum PlantedShop {
    package static let faults = Faults(
        delay: .upTo(.seconds(30)),
        failure: 0.01,
        cancellation: 0.01,
        crash: .perHour(2)
    )

    /// Runs the shop in a world.
    package static func run(in world: World) async throws {
        let node = try await world.node("shop") { bus in
            try await bus.install { Orders() }
            try await bus.install { Letters() }
            try await bus.install { Shelves() }
            try await bus.install { Cashier() }
        }
        world.always("the stock is never negative") { await node.module(Shelves.self).stock >= 0 }
        world.eventually("no message is on its way") { await node.isQuiet }
        try await world.clients(20) { client, random in
            for _ in 0..<10 {
                let order = random.int(in: 1...1_000_000)
                do {
                    try await client.route("app://orders/place?order=\(order)")
                } catch is RoutingError {
                    try await Task.sleep(for: random.duration(in: .zero ... .seconds(10)))
                }
            }
        }
    }
}
#endif
