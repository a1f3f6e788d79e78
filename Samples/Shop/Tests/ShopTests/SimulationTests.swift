import ShopAPI
import Synchronization
import Testing
import Waybill
import WaybillSimulation

@testable import Catalog
@testable import Orders
@testable import Payments
@testable import Shop

/// Customers who order, pay and cancel at the same time, in an order that the seed decides.
@Suite(.timeLimit(.minutes(2)))
struct SimulationTests {
    @Test func `no kettle is sold twice, and every paid order has its receipt`() async throws {
        let faults = Faults(delay: .upTo(.seconds(10)), failure: 0.02, cancellation: 0.02)
        try await simulate(seeds: 1...100, faults: faults) { world in
            let shop = try await Self.openShop(in: world)
            let stock = try await shop.kettlesOnTheShelf
            world.always("no kettle is sold twice") {
                let left = try await shop.kettlesOnTheShelf
                let ordered = await shop.kettlesInOrders
                return left >= 0 && left + ordered <= stock
            }
            world.always("every paid order has its receipt") {
                let receipts = await shop.module(PaymentsModule.self).receipts
                return await shop.orders.allSatisfy { $0.status != .paid || receipts[$0.id] != nil }
            }
            world.eventually("no message is left") { await shop.isQuiet }
            try await Self.sendCustomers(into: world)
        }
    }

    // A lost message may leave a kettle in no order and not in stock, so this simulation loses no messages.
    @Test func `each kettle and each payment is accounted for when no message is lost`() async throws {
        try await simulate(seeds: 1...100, faults: Faults(delay: .upTo(.seconds(10)))) { world in
            let shop = try await Self.openShop(in: world)
            let stock = try await shop.kettlesOnTheShelf
            world.eventually("each kettle is on the shelf or in an order") {
                try await shop.kettlesOnTheShelf + shop.kettlesInOrders == stock
            }
            world.eventually("the money for cancelled orders, and no other money, is refunded") {
                let receipts = await shop.module(PaymentsModule.self).receipts
                return await shop.orders.allSatisfy { order in
                    switch order.status {
                    case .placed: receipts[order.id] == nil
                    case .paid: receipts[order.id]?.isRefunded == false
                    case .cancelled: receipts[order.id]?.isRefunded != false
                    }
                }
            }
            try await Self.sendCustomers(into: world)
        }
    }

    private static func openShop(in world: World) async throws -> SimulatedNode<Void> {
        try await world.node("shop") { bus in
            for module in ShopModule.allCases { try await module.install(on: bus, file: nil) }
        }
    }

    /// Lets all customers visit the shop at the same time.
    private static func sendCustomers(into world: World) async throws {
        let names = Mutex(["Lili", "Ada", "Zoë", "Søren", "Mónica"])
        try await world.clients(5) { client, random in
            try await Self.visit(client, as: names.withLock { $0.removeLast() }, random)
        }
    }

    /// Orders some kettles three times, pays most orders and cancels some, also while they are being paid.
    ///
    /// Requests may fail, because the kettles run out.
    private static func visit(
        _ shop: MessageBus,
        as name: String,
        _ random: SimulationRandom
    ) async throws {
        let session: Session = try await shop.route("app://accounts/sign-in", parameters: ["name": name])
        let parameters = ["session": session.token]
        for _ in 0..<3 {
            let add = "app://cart/add?product=copper-kettle&quantity=\(random.int(in: 1...4))"
            _ = try? await shop.route(add, parameters: parameters)
            let place = "app://orders/place"
            guard let order = try? await shop.route(place, parameters: parameters, as: Order.self) else {
                continue
            }
            let (pays, cancels) = (random.bool(odds: 0.8), random.bool(odds: 0.3))
            await withTaskGroup { group in
                if pays {
                    group.addTask {
                        let pay = "app://payments/pay?order=\(order.id)&confirm=true"
                        _ = try? await shop.route(pay, parameters: parameters)
                    }
                }
                if cancels {
                    group.addTask {
                        let refund = "app://payments/refund?order=\(order.id)"
                        do {
                            try await shop.route("app://orders/cancel/\(order.id)", parameters: parameters)
                        } catch {
                            _ = try? await shop.route(refund, parameters: parameters)
                        }
                    }
                }
            }
        }
    }
}

extension SimulatedNode {
    fileprivate var kettlesOnTheShelf: Int {
        get async throws {
            try await self.module(CatalogModule.self).shelves.product("copper-kettle").stock
        }
    }

    fileprivate var orders: [Order] {
        get async { await Array(self.module(OrdersModule.self).orders.values) }
    }

    /// The kettles in orders that are not cancelled.
    fileprivate var kettlesInOrders: Int {
        get async {
            await self.orders.filter { $0.status != .cancelled }.flatMap(\.lines)
                .reduce(0) { $0 + $1.quantity }
        }
    }
}
