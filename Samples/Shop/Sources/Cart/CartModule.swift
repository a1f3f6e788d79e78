internal import ShopAPI
package import Waybill
package import WaybillEventLoop

/// What each customer has put aside, before it is an order.
package actor CartModule: LoopBound {
    package nonisolated let eventLoop: EventLoop
    private let bus: MessageBus
    private var baskets: [User.ID: Basket] = [:]

    package init(bus: MessageBus) {
        self.bus = bus
        self.eventLoop = bus.eventLoop
    }

    /// Registers what the module handles: all of `app://cart`.
    package nonisolated func register() throws(RoutingError) {
        try self.bus.register("app://cart/add", on: self) { try await $0.add($1) }
        try self.bus.register("app://cart/remove", on: self) { try await $0.remove($1) }
        try self.bus.register("app://cart/show", on: self) { try await $0.show($1) }
        try self.bus.register("app://cart/take", on: self) { try await $0.take($1) }
        try self.bus.register("app://cart/restore", on: self) { try await $0.restore($1) }
    }
}

extension CartModule {
    private func add(_ message: Message) async throws -> CartContents {
        let id: Product.ID = try message.parameters.require("product")
        let quantity: Int = try message.parameters.value("quantity") ?? 1
        let user = try await self.user(of: message)
        let product: Product = try await self.bus.route("app://catalog/product", parameters: ["id": id])
        // Nothing suspends from here on, so nobody else changes the basket in between.
        try self.baskets[user.id, default: Basket()].add(product, quantity: quantity)
        let text = "\(user.name) put \(quantity) x \(product.name) into the cart"
        self.bus.send("app://activity/log", parameters: ["text": text])
        return self.contents(of: user)
    }

    private func remove(_ message: Message) async throws -> CartContents {
        let id: Product.ID = try message.parameters.require("product")
        let user = try await self.user(of: message)
        try self.baskets[user.id, default: Basket()].remove(id)
        return self.contents(of: user)
    }

    private func show(_ message: Message) async throws -> CartContents {
        self.contents(of: try await self.user(of: message))
    }

    /// Hands the lines over to whoever makes an order of them: they are in one place only, at every moment.
    private func take(_ message: Message) async throws -> [CartLine] {
        let user = try await self.user(of: message)
        guard let basket = self.baskets.removeValue(forKey: user.id), !basket.lines.isEmpty else {
            throw ShopError.emptyCart
        }
        return basket.lines
    }

    /// Puts back lines that could not be ordered, beside what was added since.
    private func restore(_ message: Message) async throws -> CartContents {
        guard let lines = message.parameters.call["lines"] as? [CartLine] else {
            let text = "the parameter `lines` is not in the URL: a module passes it with the call"
            throw RoutingError(.missingParameter, url: message.address.text, message: text)
        }
        let user = try await self.user(of: message)
        for line in lines {
            self.baskets[user.id, default: Basket()].add(line)
        }
        return self.contents(of: user)
    }

    private func contents(of user: User) -> CartContents { (self.baskets[user.id] ?? Basket()).contents }

    /// Who asks: the accounts know.
    private func user(of message: Message) async throws(RoutingError) -> User {
        let token = message.parameters["session"] ?? ""
        let session: Session = try await self.bus.route(
            "app://accounts/session",
            parameters: ["session": token]
        )
        return session.user
    }
}
