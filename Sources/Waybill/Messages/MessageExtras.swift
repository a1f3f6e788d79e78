internal import WaybillRouting

/// The properties of a message that a plain request does not have, behind one reference.
final class MessageExtras: Sendable {
    let payload: (any Sendable)?
    let headers: [String: String]
    let correlationID: CorrelationID?

    /// The state of a message that passes through middlewares.
    let interception: InterceptionState?

    /// The return URL, which receives the reply's value in addition to the caller; nil without a return URL.
    let returnPath: ReturnPath?

    /// The return path that this message completes; nil when the message was not sent to a return URL.
    let isReturnOf: ReturnPath?

    /// The peer that sent the message, or nil when this process sent it.
    let external: ExternalCaller?

    /// The record of this delivery attempt in a store; nil for a message that no store delivers.
    let source: (any MessageSource)?

    /// Which message caused this message; nil when no handler sent the message.
    ///
    /// The bus records the property only while code observes the bus.
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

    /// The work that this message causes for its peer; nil if nobody counts it.
    ///
    /// A message to a return URL of a peer is work of the same peer.
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
