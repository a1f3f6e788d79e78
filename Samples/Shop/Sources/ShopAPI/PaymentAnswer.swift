/// The customer's answer to a ``PaymentRequest``.
public enum PaymentAnswer: String, CaseIterable, Codable, Sendable {
    /// Take the money.
    case confirm
    /// Cancel the payment. The order is unchanged.
    case cancel
}
