internal import Synchronization
internal import WaybillRouting

/// How a message was given to an observed bus, and the message whose handler did it.
///
/// The delivery of what is sent begins later than the code of its sender: so it is noted when the message is
/// made.
struct MessageProvenance: Sendable {
    let kind: DeliveryKind
    /// The message whose handler sent this one, if a handler did.
    let cause: CorrelationID?
}

/// How a message was given to a bus.
package enum DeliveryKind: String, Sendable {
    /// Its caller awaits the reply.
    case request
    case send
    case publication
    /// It takes the value of a reply to a return URL.
    case returnLeg = "return"
}

extension Message {
    /// How the message was given to the bus, as far as observers of the bus were there.
    package var deliveryKind: DeliveryKind {
        if self.extras?.isReturnOf != nil { return .returnLeg }
        return self.extras?.provenance?.kind ?? .request
    }

    /// The message that led to this one: the one that it answers, or the one whose handler sent it.
    package var cause: CorrelationID? {
        if self.extras?.isReturnOf != nil { return self.correlationID }
        return self.extras?.provenance?.cause
    }
}

extension Request {
    /// The request, with what observers want to know of its sender, which is the calling code.
    func noting(_ kind: DeliveryKind, on core: BusCore) -> Request {
        let cause = core.handledMessage ?? self.extras?.provenance?.cause
        guard kind != .request || cause != nil else { return self }
        var request = self
        request.extras = (self.extras ?? .empty)
            .with(provenance: MessageProvenance(kind: kind, cause: cause))
        return request
    }
}

extension BusCore {
    /// The message that the calling code handles, or leads on from, as far as deliveries with middlewares
    /// note it.
    fileprivate var handledMessage: CorrelationID? {
        guard let shard = self.currentShard, shard.isCalling else { return DeliveryContext.current?.id }
        return shard.handledMessage
    }

    /// What observers want to know of a message that is sent.
    func provenance(of request: borrowing Request, in chain: MiddlewareChain) -> MessageProvenance? {
        // A return leg knows what it answers.
        guard chain.isObserved, request.extras?.isReturnOf == nil else { return nil }
        return MessageProvenance(kind: .send, cause: self.handledMessage)
    }
}
