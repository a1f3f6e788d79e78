/// A product of the shop, with its stock.
public struct Product: Codable, Hashable, Identifiable, Sendable {
    /// The name of the product in URLs: `copper-kettle`.
    public let id: String
    /// The name of the product for people.
    public let name: String
    /// The shelf.
    public let category: String
    /// The price of one item.
    public let price: Money
    /// How many are left.
    public var stock: Int

    /// Makes a product.
    public init(id: String, name: String, category: String, price: Money, stock: Int) {
        self.id = id
        self.name = name
        self.category = category
        self.price = price
        self.stock = stock
    }
}

extension Product: CustomStringConvertible {
    /// As a shelf label shows it.
    public var description: String {
        "\(self.name), \(self.price) (\(self.id), \(self.stock == 0 ? "sold out" : "\(self.stock) left"))"
    }
}
