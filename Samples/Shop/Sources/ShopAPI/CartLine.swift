/// A quantity of one product in a cart or an order, at the price when it was added.
public struct CartLine: Codable, Hashable, Sendable {
    /// The product's ID.
    public let product: String
    /// The product's name.
    public let name: String
    /// The price of one item.
    public let price: Money
    /// The quantity.
    public var quantity: Int

    /// Creates a line of a product.
    public init(_ product: Product, quantity: Int) {
        self.product = product.id
        self.name = product.name
        self.price = product.price
        self.quantity = quantity
    }

    /// The price of all items of the line.
    public var total: Money { self.price * self.quantity }
}

extension CartLine: CustomStringConvertible {
    /// The line as in a bill: `2 x Copper Kettle 1.2 l, 109.80`.
    public var description: String { "\(self.quantity) x \(self.name), \(self.total)" }
}

extension [CartLine] {
    /// The total price of all lines.
    public var total: Money { self.reduce(.zero) { $0 + $1.total } }
}
