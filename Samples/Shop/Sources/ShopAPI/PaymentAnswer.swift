/// The customer's answer to a ``PaymentRequest``.
public enum PaymentAnswer: String, CaseIterable, Codable, Sendable {
    /// The customer confirms the payment.
    case confirm
    /// The customer cancels the payment. The order is unchanged.
    case cancel
}
