internal import ShopAPI
package import Waybill
package import WaybillEventLoop

/// The till.
///
/// Before it takes the money it asks: the request is a reply before the last one, and the caller's callback
/// answers it.
package actor PaymentsModule: LoopBound {
    package nonisolated let eventLoop: EventLoop
    private let bus: MessageBus
    private var receipts: [Order.ID: Receipt] = [:]
    private var lastNumber = 0

    package init(bus: MessageBus) {
        self.bus = bus
        self.eventLoop = bus.eventLoop
    }

    /// Registers what the module handles: all of `app://payments`.
    package nonisolated func register() throws(RoutingError) {
        try self.bus.register("app://payments/pay", on: self) { try await $0.pay($1) }
        try self.bus.register("app://payments/receipt", on: self) { payments, message in
            try payments.receipt(of: message.parameters.require("order"))
        }
        try self.bus.register("app://payments/refund", on: self) { try await $0.refund($1) }
    }
}

extension PaymentsModule {
    private func pay(_ message: Message) async throws -> Receipt {
        let id: Order.ID = try message.parameters.require("order")
        let session = self.session(of: message)
        let order: Order = try await self.bus.route("app://orders/detail/\(id)", parameters: session)
        guard order.status == .placed else { throw ShopError.orderIsClosed(id, order.status) }
        guard try await self.isConfirmed(order, message) else { throw ShopError.paymentCancelled(order: id) }
        // While the customer thought about it somebody else may have paid, or cancelled the order.
        guard self.receipts[id] == nil else { throw ShopError.orderIsClosed(id, .paid) }
        self.lastNumber += 1
        let receipt = Receipt(number: self.lastNumber, order: id, total: order.total)
        self.receipts[id] = receipt
        do {
            try await self.bus.route("app://orders/settle/\(id)", parameters: session)
        } catch {
            self.receipts[id] = nil
            throw error
        }
        return receipt
    }

    /// Whether the customer wants to pay: the URL says so (`confirm=true`), or the caller is asked.
    private func isConfirmed(_ order: Order, _ message: Message) async throws -> Bool {
        if let confirm: Bool = try message.parameters.value("confirm") { return confirm }
        let request = PaymentRequest(order: order.id, total: order.total)
        do throws(RoutingError) {
            return try await message.reply(with: request, expecting: PaymentAnswer.self) == .confirm
        } catch {
            guard error.code == .noHandler else { throw error }
            throw ShopError.nobodyToAsk(order: order.id)
        }
    }

    private func receipt(of order: Order.ID) throws -> Receipt {
        guard let receipt = self.receipts[order] else { throw ShopError.noReceipt(order: order) }
        return receipt
    }

    /// Gives the money back for an order that has been cancelled; the orders say whether it has.
    private func refund(_ message: Message) async throws -> Receipt {
        let id: Order.ID = try message.parameters.require("order")
        let order: Order = try await self.bus.route(
            "app://orders/detail/\(id)",
            parameters: self.session(of: message)
        )
        var receipt = try self.receipt(of: id)
        guard order.status == .cancelled, !receipt.isRefunded else { throw ShopError.noRefund(order: id) }
        receipt.isRefunded = true
        self.receipts[id] = receipt
        let text = "refunded \(receipt.total) for order \(id)"
        self.bus.send("app://activity/log", parameters: ["text": text])
        return receipt
    }

    /// The session of the customer who asks, for those who are asked next.
    private func session(of message: Message) -> [String: any Sendable] {
        ["session": message.parameters["session"] ?? ""]
    }
}
