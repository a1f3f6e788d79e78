import ShopAPI
import Testing
import Waybill

@Suite
struct PaymentsTests {
    @Test func `a customer who confirms the payment receives a receipt`() async throws {
        let shop = try await OpenShop()
        let order = try await shop.orderKettle()
        var asked: [PaymentRequest] = []
        let receipt: Receipt = try await shop.bus.route(
            "app://payments/pay?order=\(order.id)",
            parameters: ["session": shop.session]
        ) { (request: PaymentRequest) in
            asked.append(request)
            return PaymentAnswer.confirm
        }
        #expect(asked == [PaymentRequest(order: order.id, total: order.total)])
        #expect(try await shop.ask("app://payments/receipt?order=\(order.id)") == receipt)
        let paid: Order = try await shop.ask("app://orders/detail/\(order.id)")
        #expect(paid.status == .paid)
    }

    @Test func `a customer who cancels the payment leaves the order unpaid`() async throws {
        let shop = try await OpenShop()
        let order = try await shop.orderKettle()
        let error = await #expect(throws: RoutingError.self) {
            let _: Receipt = try await shop.bus.route(
                "app://payments/pay?order=\(order.id)#activity/receipt",
                parameters: ["session": shop.session]
            ) { (_: PaymentRequest) in PaymentAnswer.cancel }
        }
        #expect(error?.cause as? ShopError == .paymentCancelled(order: order.id))
        let still: Order = try await shop.ask("app://orders/detail/\(order.id)")
        #expect(still.status == .placed)
        #expect(try await shop.complaint(about: "app://payments/receipt?order=1") == .noReceipt(order: 1))
    }

    @Test func `a payment fails when the caller cannot be asked to confirm it`() async throws {
        let shop = try await OpenShop()
        _ = try await shop.orderKettle()
        #expect(try await shop.complaint(about: "app://payments/pay?order=1") == .nobodyToAsk(order: 1))
    }

    @Test func `paying an order twice fails`() async throws {
        let shop = try await OpenShop()
        _ = try await shop.orderKettle()
        try await shop.ask("app://payments/pay?order=1&confirm=true", as: Receipt.self)
        let complaint = try await shop.complaint(about: "app://payments/pay?order=1&confirm=true")
        #expect(complaint == .orderIsClosed(1, .paid))
    }

    @Test func `the receipt is sent to the activity log by the return URL`() async throws {
        let shop = try await OpenShop()
        _ = try await shop.orderKettle()
        let url = "app://payments/pay?order=1&confirm=true#activity/receipt"
        let reply = try await shop.bus.route(url, parameters: ["session": shop.session])
        let recent: [ActivityEntry] = try await shop.ask("app://activity/recent?limit=1")
        #expect(
            recent.first?.text == "receipt 1 for order 1: 54.90, which answers message \(reply.correlationID)"
        )
    }

    @Test func `only a cancelled order is refunded, and only once`() async throws {
        let shop = try await OpenShop()
        _ = try await shop.orderKettle()
        #expect(try await shop.complaint(about: "app://orders/settle/1") == .noReceipt(order: 1))
        try await shop.ask("app://payments/pay?order=1&confirm=true", as: Receipt.self)
        #expect(try await shop.complaint(about: "app://payments/refund?order=1") == .noRefund(order: 1))
        try await shop.ask("app://orders/cancel/1", as: Order.self)
        let receipt: Receipt = try await shop.ask("app://payments/receipt?order=1")
        #expect(receipt.isRefunded)
        #expect(try await shop.complaint(about: "app://payments/refund?order=1") == .noRefund(order: 1))
    }
}
