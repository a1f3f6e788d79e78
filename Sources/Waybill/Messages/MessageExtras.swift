internal import WaybillRouting

/// What a message has beside its URL that a plain request does not have, behind one reference.
final class MessageExtras: Sendable {
    let payload: (any Sendable)?
    let headers: [String: String]
    let correlationID: CorrelationID?

    /// What only messages have that meet middlewares.
    let interception: InterceptionState?

    /// Where the reply's value goes beside the caller, if there is a return URL.
    let returnPath: ReturnPath?

    /// The path on which this message takes the value of a reply, if it is a return leg.
    let isReturnOf: ReturnPath?

    /// The peer that the message came from; nil for one of this process.
    let external: ExternalCaller?

    /// How the message was given to an observed bus, if that is more than a request that no handler made.
    let provenance: MessageProvenance?

    static let empty = MessageExtras()

    init(
        payload: (any Sendable)? = nil,
        headers: [String: String] = [:],
        correlationID: CorrelationID? = nil,
        interception: InterceptionState? = nil,
        returnPath: ReturnPath? = nil,
        isReturnOf: ReturnPath? = nil,
        external: ExternalCaller? = nil,
        provenance: MessageProvenance? = nil
    ) {
        self.payload = payload
        self.headers = headers
        self.correlationID = correlationID
        self.interception = interception
        self.returnPath = returnPath
        self.isReturnOf = isReturnOf
        self.external = external
        self.provenance = provenance
    }

    /// The extras of a request, or nil if it needs none.
    @inline(__always)
    static func make(headers: [String: String]) -> MessageExtras? {
        headers.isEmpty ? nil : MessageExtras(headers: headers)
    }

    /// The same with something more, or something else.
    func with(
        headers: [String: String]? = nil,
        interception: InterceptionState? = nil,
        returnPath: ReturnPath? = nil,
        provenance: MessageProvenance? = nil
    ) -> MessageExtras {
        MessageExtras(
            payload: self.payload,
            headers: headers ?? self.headers,
            correlationID: self.correlationID,
            interception: interception ?? self.interception,
            returnPath: returnPath ?? self.returnPath,
            isReturnOf: self.isReturnOf,
            external: self.external,
            provenance: provenance ?? self.provenance
        )
    }
}
