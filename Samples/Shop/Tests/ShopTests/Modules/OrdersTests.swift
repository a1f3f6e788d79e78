import ShopAPI
import Testing
import Waybill

@Suite
struct OrdersTests {
    @Test func `placing an order empties the cart and reduces the stock`() async throws {
        let shop = try await OpenShop()
        let order = try await shop.orderKettle()
        #expect(order.status == .placed && order.total == Money(cents: 5_490))
        let cart: CartContents = try await shop.ask("app://cart/show")
        #expect(cart.lines.isEmpty)
        let kettle: Product = try await shop.ask("app://catalog/product?id=copper-kettle")
        #expect(kettle.stock == 11)
        #expect(try await shop.ask("app://orders/mine") == [order])
        #expect(try await shop.complaint(about: "app://orders/place") == .emptyCart)
    }

    @Test func `lines that exceed the stock stay in the cart when the order fails`() async throws {
        let shop = try await OpenShop()
        let other: Session = try await shop.bus.route("app://accounts/sign-in?name=Ada")
        for token in [shop.session, other.token] {
            let url = "app://cart/add?product=copper-kettle&quantity=10"
            try await shop.bus.route(url, parameters: ["session": token])
        }
        try await shop.bus.route("app://orders/place", parameters: ["session": other.token])
        #expect(
            try await shop.complaint(about: "app://orders/place")
                == .outOfStock(product: "Copper Kettle 1.2 l", left: 2)
        )
        let cart: CartContents = try await shop.ask("app://cart/show")
        #expect(cart.lines.map(\.quantity) == [10])
    }

    @Test func `cancelling an order returns the goods, once`() async throws {
        let shop = try await OpenShop()
        let order = try await shop.orderKettle()
        let cancelled: Order = try await shop.ask("app://orders/cancel/\(order.id)")
        #expect(cancelled.status == .cancelled)
        #expect(try await shop.complaint(about: "app://orders/cancel/1") == .orderIsClosed(1, .cancelled))
        let kettle: Product = try await shop.ask("app://catalog/product?id=copper-kettle")
        #expect(kettle.stock == 12)
    }

    @Test func `only the customer who placed an order can see it`() async throws {
        let shop = try await OpenShop()
        let order = try await shop.orderKettle()
        let other: Session = try await shop.bus.route("app://accounts/sign-in?name=Ada")
        await #expect(throws: RoutingError.self) {
            try await shop.bus.route("app://orders/detail/\(order.id)", parameters: ["session": other.token])
        }
        #expect(try await shop.complaint(about: "app://orders/detail/7") == .unknownOrder(7))
    }

    @Test func `of concurrent orders of one cart, only one is placed`() async throws {
        let shop = try await OpenShop()
        try await shop.ask("app://cart/add?product=copper-kettle&quantity=3", as: CartContents.self)
        let placed = await withTaskGroup(of: Bool.self) { group in
            for _ in 1...20 {
                group.addTask { (try? await shop.ask("app://orders/place", as: Order.self)) != nil }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(placed == 1)
        let kettle: Product = try await shop.ask("app://catalog/product?id=copper-kettle")
        #expect(kettle.stock == 9)
    }
}
