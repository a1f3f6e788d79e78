internal import Accounts
internal import Activity
internal import Cart
internal import Catalog
internal import Hummingbird
internal import Orders
internal import Payments
internal import ShopAPI
internal import Waybill
internal import WaybillConsole
internal import WaybillHTTP

/// The shop's six modules on a bus, and what customers reach of them over the web.
struct WebShop {
    /// What may be asked by GET: it changes nothing, and caches and crawlers repeat it.
    static let reads = [
        "app://catalog/categories", "app://catalog/category/:name", "app://catalog/product",
        "app://catalog/search", "app://cart/show", "app://orders/mine", "app://orders/detail/:id",
    ]
    /// What customers do; receipts are brought by a return URL, `app://payments/pay?order=1#activity/receipt`.
    static let calls = [
        "app://accounts/sign-in", "app://accounts/sign-out", "app://cart/add", "app://cart/remove",
        "app://orders/place", "app://orders/cancel/:id", "app://payments/**", "app://activity/receipt",
    ]

    /// What customers tell one another: a review is an event, which pages that show the product get at once.
    static let reviews = "app://reviews/:product"

    let bus = MessageBus()

    init() async throws {
        try await self.bus.install { AccountsModule() }
        try await self.bus.install { try CatalogModule() }
        try await self.bus.install { CartModule() }
        try await self.bus.install { OrdersModule() }
        try await self.bus.install { PaymentsModule() }
        try await self.bus.install { ActivityModule() }
        self.bus.use(ShopErrorMiddleware())
        for url in Self.reads { try self.bus.expose(url, for: [.calls, .reads]) }
        for url in Self.calls { try self.bus.expose(url) }
        try self.bus.expose(Self.reviews, for: [.publishing, .subscribing])
    }

    /// The web site: a page of its own, the gateway below `/bus`, and a console below `/console`, if there is
    /// one.
    func router(with console: WaybillConsole? = nil) -> Router<BasicRequestContext> {
        let router = Router()
        if let console { router.addRoutes(console.routes, atPath: "/console") }
        router.addRoutes(WaybillGateway(self.bus).routes, atPath: "/bus")
        // From a handler of Hummingbird to a module of the bus, and back.
        router.get("/search") { request, _ in
            let products = try await self.bus.route(
                "app://catalog/search",
                parameters: ["text": request.uri.queryParameters.require("text")],
                as: [Product].self
            )
            return products.map { "\($0.name)\n" }.joined()
        }
        return router
    }
}
