/// A product of the shop, with its stock.
public struct Product: Codable, Hashable, Identifiable, Sendable {
    /// The name of the product in URLs: `copper-kettle`.
    public let id: String
    /// The name of the product for people.
    public let name: String
    /// The category of the product.
    public let category: String
    /// The price of one item.
    public let price: Money
    /// The number of items in stock.
    public var stock: Int

    /// Creates a product.
    public init(id: String, name: String, category: String, price: Money, stock: Int) {
        self.id = id
        self.name = name
        self.category = category
        self.price = price
        self.stock = stock
    }
}

extension Product: CustomStringConvertible {
    /// The product as on a shelf label.
    public var description: String {
        "\(self.name), \(self.price) (\(self.id), \(self.stock == 0 ? "sold out" : "\(self.stock) left"))"
    }
}
