package import ShopAPI
package import Waybill

/// The payments for orders.
///
/// Before a payment the module asks the customer: it sends a progress reply, and the caller's closure answers
/// it.
@Module("app://payments")
package actor PaymentsModule {
    private(set) var receipts: [Order.ID: Receipt] = [:]
    private var lastNumber = 0
    private let storage: (any ShopStorage)?

    /// Creates the module.
    ///
    /// - Parameters:
    ///   - receipts: The receipts of earlier runs.
    ///   - storage: Keeps the receipts when the shop is closed; nil to forget them.
    package init(_ receipts: [Receipt] = [], keptIn storage: (any ShopStorage)? = nil) {
        self.storage = storage
        for receipt in receipts { self.receipts[receipt.order] = receipt }
        self.lastNumber = receipts.map(\.number).max() ?? 0
    }

    /// Takes the money for an order after the customer has confirmed the payment.
    ///
    /// The confirmation is either in the URL (`confirm=true`), or the answer to a progress reply.
    @Route func pay(
        order: Order.ID,
        confirm: Bool?,
        session: SessionToken?,
        progress: ProgressReplies<PaymentRequest, PaymentAnswer>
    ) async throws -> Receipt {
        let placed = try await self.order(order, session)
        guard placed.status == .placed else { throw ShopError.orderIsClosed(order, placed.status) }
        guard try await self.isConfirmed(confirm, placed, by: progress) else {
            throw ShopError.paymentCancelled(order: order)
        }
        let receipt = try await self.savedReceipt(for: placed)
        do {
            try await self.bus.route("app://orders/settle/\(order)", parameters: ["session": session])
        } catch {
            // Keep the receipt unless the orders module rejects the payment. When its reply is lost or late,
            // the order may be paid, and the receipt allows paying it again or refunding it.
            let rejection = ShopError(causeOf: error)
            if rejection != nil, rejection != .orderIsClosed(order, .paid),
                self.receipts[order]?.isRefunded == false
            {
                self.receipts[order] = nil
                // A receipt that stayed in the file would allow a refund after the shop has started again.
                try await self.storage?.delete(receipt)
            }
            throw error
        }
        return receipt
    }

    /// Returns the receipt for an order that has been paid.
    @Route func receipt(order: Order.ID) throws -> Receipt {
        guard let receipt = self.receipts[order] else { throw ShopError.noReceipt(order: order) }
        return receipt
    }

    /// Refunds an order, if the orders module confirms that it has been cancelled.
    @Route func refund(order: Order.ID, session: SessionToken?) async throws -> Receipt {
        let cancelled = try await self.order(order, session)
        var receipt = try self.receipt(order: order)
        guard cancelled.status == .cancelled, !receipt.isRefunded else {
            throw ShopError.noRefund(order: order)
        }
        receipt.isRefunded = true
        self.receipts[order] = receipt
        try await self.storage?.save(receipt)
        let text = "refunded \(receipt.total) for order \(order)"
        self.bus.send("app://activity/log", parameters: ["text": text])
        return receipt
    }

    /// Returns the receipt for an order after saving it.
    ///
    /// Creates the receipt unless an earlier payment has created it.
    private func savedReceipt(for order: Order) async throws -> Receipt {
        // A paid order without a receipt could not be refunded, so the receipt is saved before the order is
        // paid.
        if let receipt = self.receipts[order.id] {
            try await self.storage?.save(receipt)
            return receipt
        }
        self.lastNumber += 1
        let receipt = Receipt(number: self.lastNumber, order: order.id, total: order.total)
        self.receipts[order.id] = receipt
        do {
            try await self.storage?.save(receipt)
        } catch {
            self.receipts[order.id] = nil
            throw error
        }
        return receipt
    }

    private func order(_ id: Order.ID, _ session: SessionToken?) async throws(RoutingError) -> Order {
        try await self.bus.route("app://orders/detail/\(id)", parameters: ["session": session])
    }

    private func isConfirmed(
        _ confirm: Bool?,
        _ order: Order,
        by progress: ProgressReplies<PaymentRequest, PaymentAnswer>
    ) async throws -> Bool {
        if let confirm { return confirm }
        let request = PaymentRequest(order: order.id, total: order.total)
        do throws(RoutingError) {
            return try await progress.ask(request) == .confirm
        } catch {
            guard error.code == .noHandler else { throw error }
            throw ShopError.nobodyToAsk(order: order.id)
        }
    }
}
