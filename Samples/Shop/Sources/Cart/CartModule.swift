internal import ShopAPI
package import Waybill

/// The cart of each customer.
@Module("app://cart")
package actor CartModule {
    private var baskets: [User.ID: Basket] = [:]

    package init() {}

    /// Puts products into the customer's cart.
    @Route func add(
        product: Product.ID,
        quantity: Int = 1,
        session: SessionToken?
    ) async throws -> CartContents {
        let user = try await self.user(session)
        let goods: Product = try await self.bus.route("app://catalog/product", parameters: ["id": product])
        // The rest of the method does not suspend, so no other message changes the basket meanwhile.
        try self.baskets[user.id, default: Basket()].add(goods, quantity: quantity)
        let text = "\(user.name) put \(quantity) x \(goods.name) into the cart"
        self.bus.send("app://activity/log", parameters: ["text": text])
        return self.contents(of: user)
    }

    /// Takes products out of the cart.
    @Route func remove(product: Product.ID, session: SessionToken?) async throws -> CartContents {
        let user = try await self.user(session)
        try self.baskets[user.id, default: Basket()].remove(product)
        return self.contents(of: user)
    }

    /// Returns the contents of the cart.
    @Route func show(session: SessionToken?) async throws -> CartContents {
        self.contents(of: try await self.user(session))
    }

    /// Removes the lines from the cart and returns them to the module that places the order, so that they are
    /// never in both.
    @Route func take(session: SessionToken?) async throws -> [CartLine] {
        let user = try await self.user(session)
        guard let basket = self.baskets.removeValue(forKey: user.id), !basket.lines.isEmpty else {
            throw ShopError.emptyCart
        }
        return basket.lines
    }

    /// Returns lines that could not be ordered to the cart.
    @Route func restore(lines: [CartLine], session: SessionToken?) async throws -> CartContents {
        let user = try await self.user(session)
        for line in lines { self.baskets[user.id, default: Basket()].add(line) }
        return self.contents(of: user)
    }

    private func contents(of user: User) -> CartContents { (self.baskets[user.id] ?? Basket()).contents }

    /// Returns the customer of a session, as the accounts know it.
    private func user(_ session: SessionToken?) async throws -> User {
        try await self.bus.service((any CustomerService).self).customer(session: session)
    }
}
