import Waybill
import WaybillServe

/// The time of a generated call in comparison with a call that a person writes with an `RPCConnector`.
struct Speed {
    private let shop: ShopClient
    private let bus = MessageBus()

    init(_ path: String) throws {
        self.shop = try ShopClient(RPCConnector(.unix(path)))
        try self.bus.connect("app", to: RPCConnector(.unix(path)))
    }

    /// Prints both times and their ratio, and ends the program if the ratio is above a limit.
    func measure(limit: Double) async throws {
        var (hand, generated) = (Duration.seconds(60), Duration.seconds(60))
        // The fastest of many short runs in turn, because other programs use the machine as well. On a busy
        // machine, more runs are necessary until each side has had the machine for itself.
        for round in 0..<240 {
            if round >= 60, generated <= hand * limit { break }
            hand = min(
                hand,
                try await self.time {
                    let product = try await self.bus.route(
                        "app://catalog/product",
                        parameters: ["id": "copper-kettle"],
                        as: ShopClient.Product.self
                    )
                    return product.name
                }
            )
            generated = min(
                generated,
                try await self.time { try await self.shop.catalog.product(id: "copper-kettle").name }
            )
        }
        let ratio = ((generated / hand) * 100).rounded() / 100
        let (one, other) = (Int(hand / .microseconds(1)), Int(generated / .microseconds(1)))
        print("Swift: a call: \(one) µs by hand, \(other) µs generated, ratio \(ratio)")
        guard ratio <= limit else { fatalError("generated calls are too slow") }
    }

    /// Returns the mean time of 200 calls.
    private func time(_ call: () async throws -> String) async throws -> Duration {
        let start = ContinuousClock.now
        for _ in 0..<200 where try await call() != "Copper Kettle 1.2 l" { fatalError("another product") }
        return (ContinuousClock.now - start) / 200
    }
}
