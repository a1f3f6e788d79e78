package import ShopAPI
package import Waybill

/// The orders of the customers.
///
/// An order moves the lines from the cart and the products from the catalogue, and a cancellation moves them
/// back. This module does not import the cart, the catalogue or the payments. It knows only their URLs.
@Module("app://orders")
package actor OrdersModule {
    private(set) var orders: [Order.ID: Order] = [:]
    private let storage: (any ShopStorage)?

    /// Creates the module.
    ///
    /// - Parameters:
    ///   - orders: The orders of earlier runs.
    ///   - storage: Keeps the orders when the shop is closed; nil to forget them.
    package init(_ orders: [Order] = [], keptIn storage: (any ShopStorage)? = nil) {
        self.storage = storage
        for order in orders { self.orders[order.id] = order }
    }

    /// Places an order with the contents of the cart.
    @Route func place(session: SessionToken?) async throws -> Order {
        let user = try await self.user(session)
        let lines: [CartLine] = try await self.bus.route("app://cart/take", parameters: ["session": session])
        do {
            try await self.bus.route("app://catalog/reserve", parameters: ["lines": lines])
        } catch {
            // Lines that cannot be ordered return to the cart.
            try await self.restore(lines, session)
            throw error
        }
        // An earlier order may be missing in the storage, so the number of orders could be the ID of one.
        let order = Order(id: (self.orders.keys.max() ?? 0) + 1, user: user, lines: lines)
        do {
            try await self.save(order)
        } catch {
            try await self.bus.route("app://catalog/release", parameters: ["lines": lines])
            try await self.restore(lines, session)
            throw error
        }
        self.log("\(user.name) placed order \(order.id) for \(order.total)")
        return order
    }

    /// Returns the customer's orders.
    @Route func mine(session: SessionToken?) async throws -> [Order] {
        let user = try await self.user(session)
        return self.orders.values.filter { $0.user == user }.sorted { $0.id < $1.id }
    }

    /// Returns one order of the customer.
    @Route("/detail/:id") func detail(id: Order.ID, session: SessionToken?) async throws -> Order {
        let user = try await self.user(session)
        guard let order = self.orders[id], order.user == user else { throw ShopError.unknownOrder(id) }
        return order
    }

    /// Marks an order as paid, if the payments module confirms the payment.
    @Route("/settle/:id") func settle(id: Order.ID, session: SessionToken?) async throws -> Order {
        _ = try await self.detail(id: id, session: session)
        try await self.bus.route("app://payments/receipt", parameters: ["order": id])
        var order = try await self.detail(id: id, session: session)
        guard order.status == .placed else { throw ShopError.orderIsClosed(id, order.status) }
        order.status = .paid
        try await self.save(order)
        self.log("\(order.user.name) paid order \(id)")
        return order
    }

    /// Cancels an order: the products return to the stock, and the money to the customer.
    @Route("/cancel/:id") func cancel(id: Order.ID, session: SessionToken?) async throws -> Order {
        var order = try await self.detail(id: id, session: session)
        let before = order.status
        guard before != .cancelled else { throw ShopError.orderIsClosed(id, before) }
        // Change the status before the method suspends. A second cancellation at the same time then fails,
        // because the order is already cancelled.
        order.status = .cancelled
        try await self.save(order)
        // The products return first. If the refund fails, the customer can ask the payments module for it
        // again.
        try await self.bus.route("app://catalog/release", parameters: ["lines": order.lines])
        if before == .paid {
            try await self.refund(id, session)
        } else {
            // The order has no receipt, unless a payment has begun and its settlement is late.
            _ = try? await self.refund(id, session)
        }
        self.log("\(order.user.name) cancelled order \(id)")
        return order
    }

    /// Returns lines to the customer's cart.
    private func restore(_ lines: [CartLine], _ session: SessionToken?) async throws {
        let parameters: [String: any Sendable] = ["session": session, "lines": lines]
        try await self.bus.route("app://cart/restore", parameters: parameters)
    }

    private func refund(_ id: Order.ID, _ session: SessionToken?) async throws {
        let parameters: [String: any Sendable] = ["order": id, "session": session]
        try await self.bus.route("app://payments/refund", parameters: parameters, timeout: .seconds(5))
    }

    private func save(_ order: Order) async throws {
        // The module changes its own state first, since other messages run while the storage is awaited.
        let earlier = self.orders.updateValue(order, forKey: order.id)
        do {
            try await self.storage?.save(order)
        } catch {
            // Another message may have changed the order since then.
            if self.orders[order.id] == order { self.orders[order.id] = earlier }
            throw error
        }
    }

    /// Returns the customer of a session, as the accounts know it.
    private func user(_ session: SessionToken?) async throws -> User {
        try await self.bus.service((any CustomerService).self).customer(session: session)
    }

    private func log(_ text: String) { self.bus.send("app://activity/log", parameters: ["text": text]) }
}
