/// The receipt of a payment.
public struct Receipt: Codable, Hashable, Sendable {
    /// The receipt's number.
    public let number: Int
    /// The order that was paid.
    public let order: Int
    /// The paid amount.
    public let total: Money
    /// Whether the payment was refunded.
    public var isRefunded: Bool

    /// Creates a receipt.
    public init(number: Int, order: Int, total: Money) {
        self.number = number
        self.order = order
        self.total = total
        self.isRefunded = false
    }
}

extension Receipt: CustomStringConvertible {
    /// The receipt as text: `receipt 1 for order 1: 54.90`.
    public var description: String {
        "receipt \(self.number) for order \(self.order): \(self.total)\(self.isRefunded ? ", refunded" : "")"
    }
}
