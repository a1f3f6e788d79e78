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

/// The six modules of the shop on a bus, and the URLs that customers can reach over the web.
struct WebShop {
    /// The URLs for GET.
    ///
    /// These URLs change nothing, because caches and crawlers repeat GET requests.
    static let reads = [
        "app://catalog/categories", "app://catalog/category/:name", "app://catalog/product",
        "app://catalog/search", "app://cart/show", "app://orders/mine", "app://orders/detail/:id",
    ]
    /// The URLs of the customers' actions.
    ///
    /// A return URL delivers the receipt: `app://payments/pay?order=1#activity/receipt`.
    static let calls = [
        "app://accounts/sign-in", "app://accounts/sign-out", "app://cart/add", "app://cart/remove",
        "app://orders/place", "app://orders/cancel/:id", "app://payments/pay", "app://payments/refund",
        "app://activity/receipt",
    ]

    /// The URL of reviews.
    ///
    /// Pages that show the product receive a published review as an event.
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

    /// The web site: pages, the gateway below `/bus`, and the console below `/console` if it is enabled.
    func router(with console: WaybillConsole? = nil, page: ShopPage? = nil) -> Router<BasicRequestContext> {
        let router = Router()
        page?.addRoutes(to: router)
        if let console { router.addRoutes(console.routes, atPath: "/console") }
        router.addRoutes(WaybillGateway(self.bus).routes, atPath: "/bus")
        // A handler of Hummingbird calls a module by its URL.
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
