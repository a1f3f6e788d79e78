import ShopAPI
import Testing
import Waybill

@Suite
struct CartTests {
    @Test func `the cart adds quantities and prices, and removes products`() async throws {
        let shop = try await OpenShop()
        try await shop.ask("app://cart/add?product=copper-kettle", as: CartContents.self)
        try await shop.ask("app://cart/add?product=sencha-100-g&quantity=2", as: CartContents.self)
        let cart: CartContents = try await shop.ask("app://cart/add?product=copper-kettle&quantity=1")
        #expect(cart.lines.map(\.quantity) == [2, 2])
        #expect(cart.total.description == "142.80")
        let rest: CartContents = try await shop.ask("app://cart/remove?product=copper-kettle")
        #expect(rest.lines.map(\.product) == ["sencha-100-g"])
        #expect(
            try await shop.complaint(about: "app://cart/remove?product=copper-kettle")
                == .notInCart("copper-kettle")
        )
    }

    @Test(arguments: [0, -1, 100, Int.max])
    func `adding an invalid quantity to the cart fails`(quantity: Int) async throws {
        let shop = try await OpenShop()
        let url = "app://cart/add?product=copper-kettle&quantity=\(quantity)"
        #expect(try await shop.complaint(about: url) == .badQuantity(quantity))
    }

    @Test func `adding more than the stock to the cart fails`() async throws {
        let shop = try await OpenShop()
        let url = "app://cart/add?product=copper-kettle&quantity=7"
        try await shop.ask(url, as: CartContents.self)
        #expect(try await shop.complaint(about: url) == .outOfStock(product: "Copper Kettle 1.2 l", left: 12))
    }

    @Test func `a product's ID may contain delimiters of URLs`() async throws {
        let shop = try await OpenShop()
        let url = "app://cart/add?product=a%2Fb%3Fid%3Dcopper-kettle"
        #expect(try await shop.complaint(about: url) == .unknownProduct("a/b?id=copper-kettle"))
    }

    @Test func `a cart belongs to one customer, and needs a session`() async throws {
        let shop = try await OpenShop()
        let other: Session = try await shop.bus.route("app://accounts/sign-in?name=Ada")
        try await shop.ask("app://cart/add?product=copper-kettle", as: CartContents.self)
        let cart: CartContents = try await shop.bus.route("app://cart/show?session=\(other.token)")
        #expect(cart.lines.isEmpty)
        let error = await #expect(throws: RoutingError.self) { try await shop.bus.route("app://cart/show") }
        #expect(error?.code == .handlerFailed)
    }
}
