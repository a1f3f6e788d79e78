internal import ShopAPI
internal import Waybill
internal import WaybillNavigation

// Each page has the parameters of its URL as properties, and calls the modules by their URLs.

struct HomePage: Decodable, Page {
    func content(for visit: Visit) async throws -> PageContent {
        let categories: [ProductCategory] = try await visit.ask("app://catalog/categories")
        let customer =
            visit.isSignedIn
            ? PageLink("Sign out", "app://accounts/sign-out")
            : PageLink("Sign in", "screen://present/sign-in")
        return PageContent(
            title: "Shop",
            lines: ["Welcome. What are you looking for?"],
            links: categories.map { PageLink("\($0)", "screen://push/category/\($0.name)") }
                + [
                    PageLink("Cart", "screen://push/cart"), PageLink("Orders", "screen://push/orders"),
                    customer,
                ]
        )
    }
}

struct CategoryPage: Decodable, Page {
    let name: String

    func content(for visit: Visit) async throws -> PageContent {
        let products: [Product] = try await visit.ask("app://catalog/category/\(Address.encode(self.name))")
        return PageContent(title: self.name, links: products.map(\.link))
    }
}

struct SearchPage: Decodable, Page {
    let text: String

    func content(for visit: Visit) async throws -> PageContent {
        let products: [Product] = try await visit.ask(
            "app://catalog/search?text=\(Address.encode(self.text))"
        )
        return PageContent(
            title: "Search: \(self.text)",
            lines: products.isEmpty ? ["No product has this name."] : [],
            links: products.map(\.link)
        )
    }
}

struct ProductPage: Decodable, Page {
    let id: Product.ID

    func content(for visit: Visit) async throws -> PageContent {
        let product: Product = try await visit.ask("app://catalog/product?id=\(Address.encode(self.id))")
        let stock = product.stock == 0 ? "sold out" : "\(product.stock) left"
        let add = PageLink("Put into the cart", "app://cart/add?product=\(Address.encode(self.id))")
        return PageContent(
            title: product.name,
            lines: ["Price: \(product.price)", "Stock: \(stock)"],
            links: (product.stock == 0 ? [] : [add]) + [PageLink("Cart", "screen://push/cart")]
        )
    }
}

/// The cart exists only once, so a second request brings it to the front.
struct CartPage: Decodable, Page, ReusableDestination {
    func content(for visit: Visit) async throws -> PageContent {
        guard visit.isSignedIn else { return .signIn(title: "Cart") }
        let cart: CartContents = try await visit.ask("app://cart/show")
        let order = PageLink("Order", "app://orders/place")
        return PageContent(
            title: "Cart",
            lines: "\(cart)".split(separator: "\n").map(String.init),
            links: (cart.lines.isEmpty ? [] : [order])
                + cart.lines.map {
                    PageLink("Remove \($0.name)", "app://cart/remove?product=\(Address.encode($0.product))")
                }
        )
    }
}

struct OrdersPage: Decodable, Page {
    func content(for visit: Visit) async throws -> PageContent {
        guard visit.isSignedIn else { return .signIn(title: "Orders") }
        let orders: [Order] = try await visit.ask("app://orders/mine")
        return PageContent(
            title: "Orders",
            lines: orders.isEmpty ? ["No orders yet."] : [],
            links: orders.map {
                PageLink("Order \($0.id), \($0.status.rawValue), \($0.total)", "screen://push/order/\($0.id)")
            }
        )
    }
}

struct OrderPage: Decodable, Page {
    let id: Order.ID

    func content(for visit: Visit) async throws -> PageContent {
        guard visit.isSignedIn else { return .signIn(title: "Order \(self.id)") }
        let order: Order = try await visit.ask("app://orders/detail/\(self.id)")
        let pay = PageLink("Pay \(order.total)", "app://payments/pay?order=\(self.id)")
        let cancel = PageLink("Cancel the order", "app://orders/cancel/\(self.id)")
        return PageContent(
            title: "Order \(self.id)",
            lines: "\(order)".split(separator: "\n").map(String.init),
            links: (order.status == .placed ? [pay] : []) + (order.status == .cancelled ? [] : [cancel])
        )
    }
}

struct SignInPage: Decodable, Page {
    func content(for visit: Visit) async throws -> PageContent {
        let users: [User] = try await visit.ask("app://accounts/users")
        return PageContent(
            title: "Sign in",
            lines: ["Choose a customer."],
            links: users.map { PageLink($0.name, "app://accounts/sign-in?name=\(Address.encode($0.name))") }
        )
    }
}

/// The question before a payment, a sheet in front of all pages.
struct PaymentPage: Decodable, Page {
    let question: String

    static let confirm = PageLink("Yes, pay", "screen://remove/payment")

    func content(for visit: Visit) async throws -> PageContent {
        PageContent(
            title: "Payment",
            lines: [self.question],
            links: [Self.confirm, PageLink("Not now", "screen://back")]
        )
    }
}

extension Product {
    fileprivate var link: PageLink { PageLink("\(self)", "screen://push/product/\(Address.encode(self.id))") }
}

extension PageContent {
    fileprivate static func signIn(title: String) -> Self {
        Self(
            title: title,
            lines: ["Sign in first."],
            links: [PageLink("Sign in", "screen://present/sign-in")]
        )
    }
}
