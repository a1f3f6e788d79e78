/// The kind of a message, and the message whose handler sent it.
///
/// Only an observed bus records the provenance, when the message is created, because a sent message is
/// delivered after its sender's code has run.
struct MessageProvenance: Sendable {
    let kind: DeliveryKind
    /// The message whose handler sent this message; nil when no handler sent it.
    let cause: CorrelationID?
}

/// The operation that created a message.
package enum DeliveryKind: String, Sendable {
    /// A request, whose caller awaits the reply.
    case request
    case send
    case publication
    /// A message that delivers a reply's value to a return URL.
    case returnLeg = "return"
}

extension Message {
    /// The operation that created the message; `request` if the bus was not observed then.
    package var deliveryKind: DeliveryKind {
        if self.extras?.isReturnOf != nil { return .returnLeg }
        return self.extras?.provenance?.kind ?? .request
    }

    /// The message that this message answers, or the message whose handler sent it.
    package var cause: CorrelationID? {
        if self.extras?.isReturnOf != nil { return self.correlationID }
        return self.extras?.provenance?.cause
    }
}

extension Request {
    /// Returns the request with its provenance, read in the sender's code, for observers.
    func noting(_ kind: DeliveryKind, on core: BusCore) -> Request {
        let cause = core.handledMessage ?? self.extras?.provenance?.cause
        guard kind != .request || cause != nil else { return self }
        var request = self
        request.extras = (self.extras ?? .empty)
            .replacing(provenance: MessageProvenance(kind: kind, cause: cause))
        return request
    }
}

extension BusCore {
    /// The message that the calling code handles; nil when the message is not known.
    fileprivate var handledMessage: CorrelationID? {
        self.currentShard?.handledMessage?.id ?? DeliveryContext.current?.id
    }

    /// Returns the provenance of a sent message for observers; nil when the bus is not observed.
    func provenance(of request: borrowing Request, in chain: MiddlewareChain) -> MessageProvenance? {
        // A message to a return URL already stores the ID of the message that it answers.
        guard chain.isObserved, request.extras?.isReturnOf == nil else { return nil }
        return MessageProvenance(kind: .send, cause: self.handledMessage)
    }
}
