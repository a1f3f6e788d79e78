internal import WaybillRouting

/// The properties that a message has beyond the ones of a plain request, behind one reference.
final class MessageExtras: Sendable {
    let payload: (any Sendable)?
    let headers: [String: String]
    let correlationID: CorrelationID?

    /// The state of a message that passes through middlewares.
    let interception: InterceptionState?

    /// The path to the return URL, which receives the reply's value in addition to the caller, or nil without
    /// a return URL.
    let returnPath: ReturnPath?

    /// The path on which this message delivers a reply's value, or nil when the message is not a return leg.
    let isReturnOf: ReturnPath?

    /// The peer that sent the message, or nil when this process sent it.
    let external: ExternalCaller?

    /// The store's record of the attempt to deliver this message; nil for a message that no store delivers.
    let source: (any MessageSource)?

    /// The provenance of the message on an observed bus; nil for a request that no handler made.
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

    /// Returns the extras of a request, or nil when it needs none.
    static func make(headers: [String: String]) -> MessageExtras? {
        headers.isEmpty ? nil : MessageExtras(headers: headers)
    }

    /// Returns a copy with the given properties replaced.
    func replacing(
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
            source: self.source,
            provenance: provenance ?? self.provenance
        )
    }
}
