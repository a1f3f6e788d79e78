internal import ShopAPI
package import Waybill

/// The products of the shop and their stock.
@Module("app://catalog")
package actor CatalogModule {
    private(set) var shelves: Shelves

    /// Opens the catalogue.
    ///
    /// - Throws: an error of the decoder if the catalogue cannot be read.
    package init() throws { self.shelves = try Shelves(json: PackageResources.products_json) }

    /// Returns the categories of the catalogue.
    @Route func categories() -> [ProductCategory] { self.shelves.categories }

    /// The goods on a shelf.
    @Route("/category/:name") func category(name: String) throws -> [Product] {
        try self.shelves.products(in: name)
    }

    /// Returns one product.
    @Route func product(id: Product.ID) throws -> Product { try self.shelves.product(id) }

    /// Returns the products with a word in their name that begins with a text.
    @Route func search(text: String, limit: Int = 10) -> [Product] {
        self.shelves.products(matching: text, limit: limit)
    }

    /// Reserves products for an order: either all of them or none.
    ///
    /// The lines are passed with the call, and are encoded only if the caller is in another process.
    @Route func reserve(lines: [CartLine]) throws { try self.shelves.take(lines) }

    /// Returns reserved products to the stock.
    @Route func release(lines: [CartLine]) throws { try self.shelves.putBack(lines) }
}
