import Foundation
import ShopAPI
import Testing
import Waybill
import WaybillDurable

@testable import Shop

@Suite(.timeLimit(.minutes(1)))
struct ShopFileTests {
    /// Opens a shop with a file, runs a closure, and closes both.
    private func withShop(
        _ path: String,
        _ body: (_ bus: MessageBus, _ session: SessionToken, _ file: ShopFile) async throws -> Void
    ) async throws {
        let file = try await ShopFile(path)
        let bus = try await Storefront(file: file).bus
        let session: Session = try await bus.route("app://accounts/sign-in?name=Lili")
        try await body(bus, session.token, file)
        await file.store.close()
        await bus.shutDown()
    }

    private func temporaryPath() -> String {
        FileManager.default.temporaryDirectory.appending(path: "shop-\(UUID()).db").path
    }

    private func removeFiles(_ path: String) {
        for suffix in ["", "-wal", "-lock"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    }

    @Test func `a shop opened from its file has its orders, and ships a paid order once`() async throws {
        let path = self.temporaryPath()
        defer { self.removeFiles(path) }
        try await self.withShop(path) { bus, session, file in
            let parameters: [String: any Sendable] = ["session": session]
            for _ in 0..<2 {
                let _: CartContents = try await bus.route(
                    "app://cart/add?product=copper-kettle",
                    parameters: parameters
                )
                let _: Order = try await bus.route("app://orders/place", parameters: parameters)
            }
            let _: Receipt = try await bus.route(
                "app://payments/pay?order=1&confirm=true",
                parameters: parameters
            )
            // Save a receipt without its order, as if the process had ended between the two.
            try await file.save(Receipt(number: 2, order: 2, total: Money(cents: 0)))
        }
        try await self.withShop(path) { bus, session, file in
            let orders: [Order] = try await bus.route("app://orders/mine", parameters: ["session": session])
            #expect(orders.map(\.id) == [1, 2])
            #expect(orders.map(\.status) == [.paid, .placed])
            // The receipt would allow a refund after the unpaid order has been cancelled.
            let receipts = try await file.store.transaction { try $0.query("SELECT id FROM receipts") }
            #expect(receipts.map { $0["id"]?.int } == [1])
            while try await !file.store.messages().isEmpty { await Task.yield() }
            let parcels = try await file.store.transaction {
                try $0.query("SELECT order_number FROM parcels")
            }
            #expect(parcels.map { $0["order_number"]?.int } == [1])
            let cancelled: Order = try await bus.route(
                "app://orders/cancel/1",
                parameters: ["session": session]
            )
            #expect(cancelled.status == .cancelled)
            let second: Receipt = try await bus.route(
                "app://payments/pay?order=2&confirm=true",
                parameters: ["session": session]
            )
            #expect(second.order == 2)
            #expect(try await file.receipts().map(\.isRefunded) == [true, false])
        }
    }

    @Test func `an order whose new status cannot be saved keeps its old status`() async throws {
        let path = self.temporaryPath()
        defer { self.removeFiles(path) }
        try await self.withShop(path) { bus, session, file in
            let parameters: [String: any Sendable] = ["session": session]
            let _: CartContents = try await bus.route(
                "app://cart/add?product=copper-kettle",
                parameters: parameters
            )
            let _: Order = try await bus.route("app://orders/place", parameters: parameters)
            await file.store.close()
            await #expect(throws: RoutingError.self) {
                try await bus.route("app://orders/cancel/1", parameters: parameters)
            }
            let order: Order = try await bus.route("app://orders/detail/1", parameters: parameters)
            #expect(order.status == .placed)
        }
    }
}
