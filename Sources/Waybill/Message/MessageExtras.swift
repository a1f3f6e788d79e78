/// The parts of a message that a plain request does not have, behind one reference.
@usableFromInline
final class MessageExtras: Sendable {
    let payload: (any Sendable)?
    let headers: [String: String]
    let deadline: ContinuousClock.Instant?
    let correlationID: CorrelationID?

    /// Whether there is a deadline: an instant has no fixed layout, so asking for it costs more than this.
    @usableFromInline let hasDeadline: Bool

    /// Where progress replies go: the exchange with the caller.
    let exchange: Exchange?

    /// What only messages have that meet middlewares.
    let passage: Passage?

    static let empty = MessageExtras()

    init(
        payload: (any Sendable)? = nil,
        headers: [String: String] = [:],
        deadline: ContinuousClock.Instant? = nil,
        correlationID: CorrelationID? = nil,
        exchange: Exchange? = nil,
        passage: Passage? = nil
    ) {
        self.payload = payload
        self.headers = headers
        self.deadline = deadline
        self.hasDeadline = deadline != nil
        self.correlationID = correlationID
        self.exchange = exchange
        self.passage = passage
    }

    /// The extras of a request, or nil if it needs none.
    @inline(__always)
    static func make(headers: [String: String], deadline: ContinuousClock.Instant?) -> MessageExtras? {
        if headers.isEmpty, deadline == nil { return nil }
        return MessageExtras(headers: headers, deadline: deadline)
    }

    func with(deadline: ContinuousClock.Instant) -> MessageExtras {
        MessageExtras(
            payload: self.payload,
            headers: self.headers,
            deadline: deadline,
            correlationID: self.correlationID,
            exchange: self.exchange,
            passage: self.passage
        )
    }

    func with(headers: [String: String]) -> MessageExtras {
        MessageExtras(
            payload: self.payload,
            headers: headers,
            deadline: self.deadline,
            correlationID: self.correlationID,
            exchange: self.exchange,
            passage: self.passage
        )
    }

    func with(exchange: Exchange) -> MessageExtras {
        MessageExtras(
            payload: self.payload,
            headers: self.headers,
            deadline: self.deadline,
            correlationID: self.correlationID,
            exchange: exchange,
            passage: self.passage
        )
    }

    func with(passage: Passage) -> MessageExtras {
        MessageExtras(
            payload: self.payload,
            headers: self.headers,
            deadline: self.deadline,
            correlationID: self.correlationID,
            exchange: self.exchange,
            passage: passage
        )
    }
}
