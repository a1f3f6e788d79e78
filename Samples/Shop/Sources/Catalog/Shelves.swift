internal import FoundationEssentials
internal import ShopAPI

/// The products, found by ID and by category.
struct Shelves {
    private var products: [Product]
    private let places: [Product.ID: Int]

    /// The categories, in the order of the catalogue.
    let categories: [ProductCategory]

    init(_ products: [Product]) {
        self.products = products
        self.places = Dictionary(products.enumerated().map { ($1.id, $0) }) { first, _ in first }
        var names: [String] = []
        for product in products where !names.contains(product.category) { names.append(product.category) }
        self.categories = names.map { name in
            ProductCategory(name: name, products: products.count { $0.category == name })
        }
    }

    init(json: [UInt8]) throws {
        self.init(try JSONDecoder().decode([Product].self, from: Data(json)))
    }

    func product(_ id: Product.ID) throws -> Product {
        guard let place = self.places[id] else { throw ShopError.unknownProduct(id) }
        return self.products[place]
    }

    func products(in category: String) throws -> [Product] {
        let found = self.products.filter { $0.category == category }
        guard !found.isEmpty else { throw ShopError.unknownCategory(category) }
        return found
    }

    /// Returns the products with a word in their name that begins with a text.
    ///
    /// A text that is not ASCII can be anywhere in the name.
    func products(matching text: String, limit: Int) -> [Product] {
        let text = text.lowercased()
        let isAnywhere = !text.utf8.allSatisfy { $0 < 0x80 }
        let found = self.products.lazy.filter { product in
            let name = product.name.lowercased()
            if isAnywhere { return name.contains(text) }
            return name.split { !$0.isLetter && !$0.isNumber }.contains { $0.hasPrefix(text) }
        }
        return Array(found.prefix(max(0, limit)))
    }

    /// Takes products for an order: either all of them or none.
    mutating func take(_ lines: [CartLine]) throws {
        for line in lines {
            let product = try self.product(line.product)
            guard product.stock >= line.quantity else {
                throw ShopError.outOfStock(product: product.name, left: product.stock)
            }
        }
        for line in lines { self.change(line.product, by: -line.quantity) }
    }

    mutating func putBack(_ lines: [CartLine]) throws {
        for line in lines { _ = try self.product(line.product) }
        for line in lines { self.change(line.product, by: line.quantity) }
    }

    private mutating func change(_ id: Product.ID, by quantity: Int) {
        guard let place = self.places[id] else { return }
        self.products[place].stock += quantity
    }
}
