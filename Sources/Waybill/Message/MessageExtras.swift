internal import WaybillRouting

/// What a message has beside its URL that a plain request does not have, behind one reference.
final class MessageExtras: Sendable {
    let payload: (any Sendable)?
    let headers: [String: String]
    let correlationID: CorrelationID?

    /// Where progress replies go: the exchange with the caller.
    let exchange: Exchange?

    /// What only messages have that meet middlewares.
    let passage: Passage?

    static let empty = MessageExtras()

    init(
        payload: (any Sendable)? = nil,
        headers: [String: String] = [:],
        correlationID: CorrelationID? = nil,
        exchange: Exchange? = nil,
        passage: Passage? = nil
    ) {
        self.payload = payload
        self.headers = headers
        self.correlationID = correlationID
        self.exchange = exchange
        self.passage = passage
    }

    /// The extras of a request, or nil if it needs none.
    @inline(__always)
    static func make(headers: [String: String]) -> MessageExtras? {
        headers.isEmpty ? nil : MessageExtras(headers: headers)
    }

    func with(headers: [String: String]) -> MessageExtras {
        MessageExtras(
            payload: self.payload,
            headers: headers,
            correlationID: self.correlationID,
            exchange: self.exchange,
            passage: self.passage
        )
    }

    func with(exchange: Exchange) -> MessageExtras {
        MessageExtras(
            payload: self.payload,
            headers: self.headers,
            correlationID: self.correlationID,
            exchange: exchange,
            passage: self.passage
        )
    }

    func with(passage: Passage) -> MessageExtras {
        MessageExtras(
            payload: self.payload,
            headers: self.headers,
            correlationID: self.correlationID,
            exchange: self.exchange,
            passage: passage
        )
    }
}
