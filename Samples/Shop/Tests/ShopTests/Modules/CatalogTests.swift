import ShopAPI
import Testing
import Waybill

@Suite
struct CatalogTests {
    @Test func `the catalogue has 240 products, each listed in its category`() async throws {
        let shop = try await OpenShop()
        let categories: [ProductCategory] = try await shop.ask("app://catalog/categories")
        var products: [Product] = []
        for category in categories {
            let shelf: [Product] = try await shop.ask("app://catalog/category/\(category.name)")
            #expect(shelf.count == category.products)
            products += shelf
        }
        #expect(products.count == 240)
        #expect(Set(products.map(\.id)).count == products.count)
        #expect(products.allSatisfy { $0.price.cents > 0 && $0.stock >= 0 && !$0.name.isEmpty })
    }

    @Test(arguments: [("kettle", "copper-kettle"), ("煎茶", "sencha-100-g"), ("TEAPOT", "teapot-0-8-l")])
    func `a search finds whole words and parts of words in any script`(
        text: String,
        id: Product.ID
    ) async throws {
        let shop = try await OpenShop()
        let found: [Product] = try await shop.ask("app://catalog/search?text=\(text)")
        #expect(found.contains { $0.id == id })
    }

    @Test(arguments: [(0, 0), (-5, 0), (2, 2), (Int.max, 68)])
    func `a search returns at most as many products as its limit`(limit: Int, count: Int) async throws {
        let shop = try await OpenShop()
        let found: [Product] = try await shop.ask("app://catalog/search?text=s&limit=\(limit)")
        #expect(found.count == count)
    }

    @Test func `an unknown product or category fails with its name`() async throws {
        let shop = try await OpenShop()
        #expect(try await shop.complaint(about: "app://catalog/product?id=moon") == .unknownProduct("moon"))
        #expect(try await shop.complaint(about: "app://catalog/category/moon") == .unknownCategory("moon"))
    }

    @Test(arguments: ["app://catalog/reserve", "app://catalog/release?lines=1"])
    func `reserving and releasing goods needs parameters that a plain URL cannot pass`(
        url: String
    ) async throws {
        let shop = try await OpenShop()
        let error = await #expect(throws: RoutingError.self) { try await shop.bus.route(url) }
        #expect(error?.code == .missingParameter || error?.code == .invalidParameter)
    }
}
