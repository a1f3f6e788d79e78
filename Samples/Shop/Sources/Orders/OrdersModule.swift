internal import ShopAPI
package import Waybill
package import WaybillEventLoop

/// What the customers have ordered.
///
/// An order takes the lines out of the cart and the goods off the shelves; cancelling it brings them back.
/// Neither the cart, the catalogue nor the payments are imported here: their URLs are all that this module
/// knows of them.
package actor OrdersModule: LoopBound {
    package nonisolated let eventLoop: EventLoop
    private let bus: MessageBus
    private var orders: [Order.ID: Order] = [:]

    package init(bus: MessageBus) {
        self.bus = bus
        self.eventLoop = bus.eventLoop
    }

    /// Registers what the module handles: all of `app://orders`.
    package nonisolated func register() throws(RoutingError) {
        try self.bus.register("app://orders/place", on: self) { try await $0.place($1) }
        try self.bus.register("app://orders/mine", on: self) { try await $0.mine($1) }
        try self.bus.register("app://orders/detail/:id", on: self) { try await $0.detail($1) }
        try self.bus.register("app://orders/settle/:id", on: self) { try await $0.settle($1) }
        try self.bus.register("app://orders/cancel/:id", on: self) { try await $0.cancel($1) }
    }
}

extension OrdersModule {
    private func place(_ message: Message) async throws -> Order {
        let session = try await self.session(of: message)
        let lines: [CartLine] = try await self.bus.route(
            "app://cart/take",
            parameters: ["session": session.token]
        )
        do {
            try await self.bus.route("app://catalog/reserve", parameters: ["lines": lines])
        } catch {
            // What cannot be ordered goes back to where it came from.
            let back: [String: any Sendable] = ["session": session.token, "lines": lines]
            try await self.bus.route("app://cart/restore", parameters: back)
            throw error
        }
        let order = Order(id: self.orders.count + 1, user: session.user, lines: lines)
        self.orders[order.id] = order
        self.log("\(session.user.name) placed order \(order.id) for \(order.total)")
        return order
    }

    private func mine(_ message: Message) async throws -> [Order] {
        let user = try await self.session(of: message).user
        return self.orders.values.filter { $0.user == user }.sorted { $0.id < $1.id }
    }

    private func detail(_ message: Message) async throws -> Order {
        try await self.order(message.parameters.require("id"), of: self.session(of: message).user)
    }

    /// Writes down that the money is there; the payments say whether it is.
    private func settle(_ message: Message) async throws -> Order {
        let id = try await self.detail(message).id
        try await self.bus.route("app://payments/receipt", parameters: ["order": id])
        var order = try await self.detail(message)
        guard order.status == .placed else { throw ShopError.orderIsClosed(id, order.status) }
        order.status = .paid
        self.orders[id] = order
        self.log("\(order.user.name) paid order \(id)")
        return order
    }

    private func cancel(_ message: Message) async throws -> Order {
        var order = try await self.detail(message)
        let before = order.status
        guard before != .cancelled else { throw ShopError.orderIsClosed(order.id, before) }
        // Written before anything suspends: whoever cancels it at the same time is told that it is cancelled.
        order.status = .cancelled
        self.orders[order.id] = order
        if before == .paid {
            let session = message.parameters["session"] ?? ""
            let parameters: [String: any Sendable] = ["order": order.id, "session": session]
            try await self.bus.route("app://payments/refund", parameters: parameters)
        }
        try await self.bus.route("app://catalog/release", parameters: ["lines": order.lines])
        self.log("\(order.user.name) cancelled order \(order.id)")
        return order
    }

    private func order(_ id: Order.ID, of user: User) throws(ShopError) -> Order {
        guard let order = self.orders[id], order.user == user else { throw .unknownOrder(id) }
        return order
    }

    /// Who asks: the accounts know.
    private func session(of message: Message) async throws(RoutingError) -> Session {
        let token = message.parameters["session"] ?? ""
        return try await self.bus.route("app://accounts/session", parameters: ["session": token])
    }

    private func log(_ text: String) { self.bus.send("app://activity/log", parameters: ["text": text]) }
}
