internal import WaybillRouting

/// One message on its way to everybody who has subscribed to it, and how far it has got.
struct Publication {
    let request: Request
    let audience: Audience

    /// The middlewares around each subscriber's delivery; around a feed's they stand where it is read.
    let chain: Chain?

    /// How many subscribers had their turn.
    var told = 0

    /// How many of them took it.
    var taken = 0

    /// What those do who need more than a call.
    var exchanges: [Exchange] = []

    /// The lines before full feeds in which the publisher has to wait.
    var queued: [QueuedMessage] = []

    init(_ request: Request, for audience: Audience, around chain: Chain?) {
        self.request = request
        self.chain = chain
        self.audience = audience
    }

    /// The message for the subscribers of a pattern; each gets it with an ID of its own.
    func message(to pattern: Int) -> Message {
        self.request.message(id: CorrelationID(rawValue: 0), parameters: self.audience.parameters[pattern])
    }
}
