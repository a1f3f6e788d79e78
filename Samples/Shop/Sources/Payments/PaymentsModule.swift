internal import ShopAPI
package import Waybill
package import WaybillEventLoop

/// The till.
///
/// Before it takes the money it asks: the request is a reply before the last one, and the caller's callback answers it.
package actor PaymentsModule: LoopBound {
    package nonisolated let eventLoop: EventLoop
    private let bus: MessageBus
    private var receipts: [Order.ID: Receipt] = [:]

    package init(bus: MessageBus) {
        self.bus = bus
        self.eventLoop = bus.eventLoop
    }

    /// Registers what the module handles: all of `app://payments`.
    package nonisolated func register() throws(RoutingError) {
        try self.bus.register("app://payments/pay", on: self) { payments, message in
            try await payments.pay(message)
        }
        try self.bus.register("app://payments/receipt", on: self) { payments, message in
            try payments.receipt(of: message.parameters.require("order"))
        }
        try self.bus.register("app://payments/refund", on: self) { payments, message in
            try payments.refund(message.parameters.require("order"))
        }
    }
}

extension PaymentsModule {
    private func pay(_ message: Message) async throws -> Receipt {
        let id: Order.ID = try message.parameters.require("order")
        let session: [String: any Sendable] = ["session": message.parameters["session"] ?? ""]
        let order: Order = try await self.bus.route("app://orders/detail/\(id)", parameters: session)
        guard order.status == .placed else { throw ShopError.orderIsClosed(id, order.status) }
        guard try await self.isConfirmed(order, message) else { throw ShopError.paymentCancelled(order: id) }
        // The order may have been paid or cancelled while the customer thought about it: then this throws.
        try await self.bus.route("app://orders/settle/\(id)", parameters: session)
        let receipt = Receipt(number: self.receipts.count + 1, order: id, total: order.total)
        self.receipts[id] = receipt
        return receipt
    }

    /// Whether the customer wants to pay: the URL says so (`confirm=true`), or the caller is asked.
    private func isConfirmed(_ order: Order, _ message: Message) async throws -> Bool {
        if let confirm: Bool = try message.parameters.value("confirm") { return confirm }
        let request = PaymentRequest(order: order.id, total: order.total)
        do throws(RoutingError) {
            return try await message.reply(with: request, expecting: PaymentAnswer.self) == .confirm
        } catch where error.code == .noHandler {
            throw ShopError.nobodyToAsk(order: order.id)
        }
    }

    private func receipt(of order: Order.ID) throws -> Receipt {
        guard let receipt = self.receipts[order] else { throw ShopError.noReceipt(order: order) }
        return receipt
    }

    private func refund(_ order: Order.ID) throws -> Receipt {
        var receipt = try self.receipt(of: order)
        receipt.isRefunded = true
        self.receipts[order] = receipt
        self.bus.send("app://activity/log", parameters: ["text": "refunded \(receipt.total) for order \(order)"])
        return receipt
    }
}
