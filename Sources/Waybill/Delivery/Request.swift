internal import WaybillRouting

/// What a caller gives to the bus, before it has an ID and a handler.
struct Request: Sendable {
    let url: String
    var parameters: [String: any Sendable] = [:]
    var headers: [String: String] = [:]
    var payload: (any Sendable)?
    var deadline: ContinuousClock.Instant?
    var correlationID: CorrelationID?
    var hops = 0

    /// Whether the message needs more than its URL and parameters.
    var hasExtras: Bool {
        self.payload != nil || self.deadline != nil || self.correlationID != nil || !self.headers.isEmpty
    }

    /// Takes over what a message sent inside a handler owes to the one that is being handled.
    mutating func inherit(from context: DeliveryContext) {
        self.hops = max(self.hops, context.hops + 1)
        guard let outer = context.deadline else { return }
        self.deadline = self.deadline.map { min($0, outer) } ?? outer
    }

    /// The message for the handler that was found.
    func message(id: CorrelationID, parameters: Parameters, exchange: Exchange? = nil) -> Message {
        var parameters = parameters
        if !self.parameters.isEmpty { parameters.call = self.parameters }
        guard self.hasExtras || exchange != nil else {
            return Message(id: id, parameters: parameters, hops: self.hops)
        }
        let extras = MessageExtras(
            payload: self.payload,
            headers: self.headers,
            deadline: self.deadline,
            correlationID: self.correlationID,
            exchange: exchange
        )
        return Message(id: id, parameters: parameters, hops: self.hops, extras: extras)
    }
}
