/// The properties of a message that a plain request does not have, behind one reference.
final class MessageExtras: Sendable {
    let payload: (any Sendable)?
    let headers: [String: String]
    let correlationID: CorrelationID?

    let interception: InterceptionState?

    let returnPath: ReturnPath?

    /// The return path that this message completes; nil when the message was not sent to a return URL.
    let isReturnOf: ReturnPath?

    /// The peer that sent the message, or nil when this process sent it.
    let external: ExternalCaller?

    /// The record of this delivery attempt in a store; nil for a message that no store delivers.
    let source: (any MessageSource)?

    /// The message that caused this message, recorded only while code observes the bus.
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
        source: (any MessageSource)? = nil,
        provenance: MessageProvenance? = nil
    ) {
        self.payload = payload
        self.headers = headers
        self.correlationID = correlationID
        self.interception = interception
        self.returnPath = returnPath
        self.isReturnOf = isReturnOf
        self.external = external
        self.source = source
        self.provenance = provenance
    }

    /// The work of the peer, which includes a message to a return URL of the peer; nil if nobody counts it.
    var work: ExternalWork? { self.external?.work }

    /// Records the outcome of a message that no caller awaits.
    func endUnawaited(with outcome: ReturnLeg.Outcome) {
        self.isReturnOf?.end(outcome)
        self.work?.endPart()
    }

    func replacing(
        headers: [String: String]? = nil,
        interception: InterceptionState? = nil,
        returnPath: ReturnPath? = nil,
        external: ExternalCaller? = nil,
        provenance: MessageProvenance? = nil
    ) -> MessageExtras {
        MessageExtras(
            payload: self.payload,
            headers: headers ?? self.headers,
            correlationID: self.correlationID,
            interception: interception ?? self.interception,
            returnPath: returnPath ?? self.returnPath,
            isReturnOf: self.isReturnOf,
            external: external ?? self.external,
            source: self.source,
            provenance: provenance ?? self.provenance
        )
    }
}
