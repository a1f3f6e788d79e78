internal import ShopAPI
package import Waybill

/// The orders of the customers.
///
/// An order moves the lines from the cart and the products from the catalogue, and a cancellation moves them
/// back. This module does not import the cart, the catalogue or the payments. It knows only their URLs.
@Module("app://orders")
package actor OrdersModule {
    private var orders: [Order.ID: Order] = [:]

    package init() {}

    /// Places an order with the contents of the cart.
    @Route func place(session: SessionToken?) async throws -> Order {
        let user = try await self.user(session)
        let lines: [CartLine] = try await self.bus.route("app://cart/take", parameters: ["session": session])
        do {
            try await self.bus.route("app://catalog/reserve", parameters: ["lines": lines])
        } catch {
            // Lines that cannot be ordered return to the cart.
            let back: [String: any Sendable] = ["session": session, "lines": lines]
            try await self.bus.route("app://cart/restore", parameters: back)
            throw error
        }
        let order = Order(id: self.orders.count + 1, user: user, lines: lines)
        self.orders[order.id] = order
        self.log("\(user.name) placed order \(order.id) for \(order.total)")
        return order
    }

    /// The customer's orders.
    @Route func mine(session: SessionToken?) async throws -> [Order] {
        let user = try await self.user(session)
        return self.orders.values.filter { $0.user == user }.sorted { $0.id < $1.id }
    }

    /// One order of the customer's.
    @Route("/detail/:id") func detail(id: Order.ID, session: SessionToken?) async throws -> Order {
        let user = try await self.user(session)
        guard let order = self.orders[id], order.user == user else { throw ShopError.unknownOrder(id) }
        return order
    }

    /// Writes down that the money is there; the payments say whether it is.
    @Route("/settle/:id") func settle(id: Order.ID, session: SessionToken?) async throws -> Order {
        _ = try await self.detail(id: id, session: session)
        try await self.bus.route("app://payments/receipt", parameters: ["order": id])
        var order = try await self.detail(id: id, session: session)
        guard order.status == .placed else { throw ShopError.orderIsClosed(id, order.status) }
        order.status = .paid
        self.orders[id] = order
        self.log("\(order.user.name) paid order \(id)")
        return order
    }

    /// Cancels an order: the goods go back, and the money.
    @Route("/cancel/:id") func cancel(id: Order.ID, session: SessionToken?) async throws -> Order {
        var order = try await self.detail(id: id, session: session)
        let before = order.status
        guard before != .cancelled else { throw ShopError.orderIsClosed(id, before) }
        // Written before anything suspends: a second cancellation at the same time is told that it is
        // cancelled.
        order.status = .cancelled
        self.orders[id] = order
        if before == .paid {
            let parameters: [String: any Sendable] = ["order": id, "session": session]
            try await self.bus.route("app://payments/refund", parameters: parameters, timeout: .seconds(5))
        }
        try await self.bus.route("app://catalog/release", parameters: ["lines": order.lines])
        self.log("\(order.user.name) cancelled order \(id)")
        return order
    }

    /// Who asks: the accounts know.
    private func user(_ session: SessionToken?) async throws -> User {
        try await self.bus.service((any CustomerService).self).customer(session: session)
    }

    private func log(_ text: String) { self.bus.send("app://activity/log", parameters: ["text": text]) }
}
