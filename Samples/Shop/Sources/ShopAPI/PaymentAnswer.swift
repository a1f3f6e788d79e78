/// What a customer answers to a ``PaymentRequest``.
public enum PaymentAnswer: String, CaseIterable, Codable, Sendable {
    /// Take the money.
    case confirm
    /// Leave it; the order stays as it is.
    case cancel
}
