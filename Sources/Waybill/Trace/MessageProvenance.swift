internal import Synchronization
internal import WaybillRouting

/// The way in which a message was given to an observed bus, and the message whose handler sent it.
///
/// A sent message is delivered later than its sender's code runs, so the provenance is recorded when the
/// message is created.
struct MessageProvenance: Sendable {
    let kind: DeliveryKind
    /// The message whose handler sent this one, or nil if no handler did.
    let cause: CorrelationID?
}

/// The way in which a message was given to a bus.
package enum DeliveryKind: String, Sendable {
    /// A request, whose caller awaits the reply.
    case request
    case send
    case publication
    /// A message that delivers a reply's value to a return URL.
    case returnLeg = "return"
}

extension Message {
    /// The way in which the message was given to the bus.
    ///
    /// It is `request` if the bus was not observed then.
    package var deliveryKind: DeliveryKind {
        if self.extras?.isReturnOf != nil { return .returnLeg }
        return self.extras?.provenance?.kind ?? .request
    }

    /// The message that led to this one: the message that it answers, or the message whose handler sent it.
    package var cause: CorrelationID? {
        if self.extras?.isReturnOf != nil { return self.correlationID }
        return self.extras?.provenance?.cause
    }
}

extension Request {
    /// Returns the request with its provenance for observers.
    ///
    /// It is called by the sender's code.
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
    /// The message that the calling code is handling, or nil when it is not known.
    fileprivate var handledMessage: CorrelationID? {
        guard let shard = self.currentShard, shard.isCalling else { return DeliveryContext.current?.id }
        return shard.handledMessage
    }

    /// Returns the provenance of a sent message for observers, or nil when the bus is not observed.
    func provenance(of request: borrowing Request, in chain: MiddlewareChain) -> MessageProvenance? {
        // A return leg already stores the message that it answers.
        guard chain.isObserved, request.extras?.isReturnOf == nil else { return nil }
        return MessageProvenance(kind: .send, cause: self.handledMessage)
    }
}
