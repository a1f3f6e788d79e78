/// A category of products.
public struct ProductCategory: Codable, Hashable, Sendable {
    /// The name of the category in URLs: `kitchen`.
    public let name: String
    /// The number of products in the category.
    public let products: Int

    /// Creates a category.
    public init(name: String, products: Int) {
        self.name = name
        self.products = products
    }
}

extension ProductCategory: CustomStringConvertible {
    /// The name and the number of products.
    public var description: String { "\(self.name) (\(self.products) products)" }
}
