/// The contents of a customer's cart.
public struct CartContents: Codable, Hashable, Sendable {
    /// One line for each product, in the order in which they were added.
    public let lines: [CartLine]
    /// The total price.
    public let total: Money

    /// Creates the contents of a cart.
    public init(lines: [CartLine]) {
        self.lines = lines
        self.total = lines.total
    }
}

extension CartContents: CustomStringConvertible {
    /// One line for each product, and the total.
    public var description: String {
        self.lines.isEmpty
            ? "an empty cart"
            : (self.lines.map(\.description) + ["total \(self.total)"]).joined(separator: "\n")
    }
}
