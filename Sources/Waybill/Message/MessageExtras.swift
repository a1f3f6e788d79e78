/// The parts of a message that a plain request does not have, behind one reference.
final class MessageExtras: Sendable {
    let payload: (any Sendable)?
    let headers: [String: String]
    let deadline: ContinuousClock.Instant?
    let correlationID: CorrelationID?

    /// Where progress replies go: the exchange with the caller.
    let exchange: Exchange?

    init(
        payload: (any Sendable)? = nil,
        headers: [String: String] = [:],
        deadline: ContinuousClock.Instant? = nil,
        correlationID: CorrelationID? = nil,
        exchange: Exchange? = nil
    ) {
        self.payload = payload
        self.headers = headers
        self.deadline = deadline
        self.correlationID = correlationID
        self.exchange = exchange
    }
}
