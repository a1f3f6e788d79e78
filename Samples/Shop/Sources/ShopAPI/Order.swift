/// An order of a customer.
public struct Order: Codable, Hashable, Identifiable, Sendable {
    /// The status of an order.
    public enum Status: String, CaseIterable, Codable, Sendable {
        /// The products are reserved, and the order is not paid.
        case placed
        /// The order is paid.
        case paid
        /// The order is cancelled, and the products are in stock again.
        case cancelled
    }

    /// The order's number.
    public let id: Int
    /// The number of the customer.
    public let user: User
    /// The ordered lines.
    public let lines: [CartLine]
    /// The total price.
    public let total: Money
    /// The status of the order.
    public var status: Status

    /// Creates an order that has just been placed.
    public init(id: Int, user: User, lines: [CartLine]) {
        self.id = id
        self.user = user
        self.lines = lines
        self.total = lines.total
        self.status = .placed
    }
}

extension Order: CustomStringConvertible {
    /// Number, status and total, and a line for each product.
    public var description: String {
        (["order \(self.id) of \(self.user.name), \(self.status.rawValue), \(self.total)"]
            + self.lines.map { "  \($0)" }).joined(separator: "\n")
    }
}
