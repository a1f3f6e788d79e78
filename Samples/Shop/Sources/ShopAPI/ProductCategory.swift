/// A shelf of the shop.
public struct ProductCategory: Codable, Hashable, Sendable {
    /// The name of the category in URLs: `kitchen`.
    public let name: String
    /// How many products are on it.
    public let products: Int

    /// Makes a category.
    public init(name: String, products: Int) {
        self.name = name
        self.products = products
    }
}

extension ProductCategory: CustomStringConvertible {
    /// Name and number of products.
    public var description: String { "\(self.name) (\(self.products) products)" }
}
