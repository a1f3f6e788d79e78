/// The question of the payments module before a payment, sent as a progress reply.
///
/// The customer's callback answers it with a ``PaymentAnswer``.
public struct PaymentRequest: Codable, Hashable, Sendable {
    /// The order to pay.
    public let order: Int
    /// The amount.
    public let total: Money

    /// Creates a request.
    public init(order: Int, total: Money) {
        self.order = order
        self.total = total
    }
}

extension PaymentRequest: CustomStringConvertible {
    /// The question as text.
    public var description: String { "Pay \(self.total) for order \(self.order)?" }
}
