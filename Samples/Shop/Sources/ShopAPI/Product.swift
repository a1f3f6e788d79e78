/// Something that the shop sells, and how much of it is left.
public struct Product: Codable, Hashable, Identifiable, Sendable {
    /// What the product is called in URLs: `copper-kettle`.
    public let id: String
    /// What it is called on the shelf.
    public let name: String
    /// The shelf.
    public let category: String
    /// What one of it costs.
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
