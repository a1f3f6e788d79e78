/// The parts of a message that a plain request does not have, behind one reference.
final class MessageExtras: Sendable {
    let payload: (any Sendable)?
    let headers: [String: String]
    let deadline: ContinuousClock.Instant?
    let correlationID: CorrelationID?

    /// Whether there is a deadline: an instant has no fixed layout, so asking for it costs more than this.
    let hasDeadline: Bool

    /// Where progress replies go: the exchange with the caller.
    let exchange: Exchange?

    /// Where the reply's value goes beside the caller, if there is a return URL.
    let returnPath: ReturnPath?

    /// The path on which this message takes the value of a reply, if it is a return leg.
    let isReturnOf: ReturnPath?

    static let empty = MessageExtras()

    init(
        payload: (any Sendable)? = nil,
        headers: [String: String] = [:],
        deadline: ContinuousClock.Instant? = nil,
        correlationID: CorrelationID? = nil,
        exchange: Exchange? = nil,
        returnPath: ReturnPath? = nil,
        isReturnOf: ReturnPath? = nil
    ) {
        self.payload = payload
        self.headers = headers
        self.deadline = deadline
        self.hasDeadline = deadline != nil
        self.correlationID = correlationID
        self.exchange = exchange
        self.returnPath = returnPath
        self.isReturnOf = isReturnOf
    }

    /// The extras of a request, or nil if it needs none.
    @inline(__always)
    static func make(headers: [String: String], deadline: ContinuousClock.Instant?) -> MessageExtras? {
        if headers.isEmpty, deadline == nil { return nil }
        return MessageExtras(headers: headers, deadline: deadline)
    }

    func with(
        deadline: ContinuousClock.Instant? = nil,
        exchange: Exchange? = nil,
        returnPath: ReturnPath? = nil
    ) -> MessageExtras {
        MessageExtras(
            payload: self.payload,
            headers: self.headers,
            deadline: deadline ?? self.deadline,
            correlationID: self.correlationID,
            exchange: exchange ?? self.exchange,
            returnPath: returnPath ?? self.returnPath,
            isReturnOf: self.isReturnOf
        )
    }
}
