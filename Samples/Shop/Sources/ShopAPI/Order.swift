/// An order of a customer.
public struct Order: Codable, Hashable, Identifiable, Sendable {
    /// How far an order has come.
    public enum Status: String, CaseIterable, Codable, Sendable {
        /// The goods are put aside, and wait for the money.
        case placed
        /// The money is there.
        case paid
        /// The goods are back on the shelf.
        case cancelled
    }

    /// The order's number.
    public let id: Int
    /// Whose order it is.
    public let user: User
    /// The ordered lines.
    public let lines: [CartLine]
    /// The total price.
    public let total: Money
    /// How far it has come.
    public var status: Status

    /// Makes an order that has just been placed.
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
