public import Waybill
internal import WaybillEventLoop

/// Something that happens to a destination that is made on demand, as the observers of a bus see it.
public struct PerformEvent: Sendable {
    /// What happens.
    @nonexhaustive
    public enum Kind: Sendable, Hashable {
        /// It has been made and prepared, and is going to be shown.
        case willPerform
        /// It is there.
        case didPerform
        /// It is going to be taken away and down.
        case willRemove
        /// It has been taken down.
        case didRemove
    }

    /// What happens.
    public let kind: Kind

    /// The destination.
    public let destination: any Sendable

    /// Where it is made from; nil if its caller did not say.
    public let source: (any Sendable)?

    /// How it is to appear.
    public let transition: PerformTransition

    /// The protocol or type by which it was asked for.
    public let service: any Any.Type
}

extension MessageBus {
    /// Observes what is made on demand and taken down, around each performance and each removal.
    ///
    /// A performance whose destination cannot be shown has a `willPerform` and no `didPerform`. A performance
    /// that fails before has neither.
    ///
    /// - Parameters:
    ///   - service: the protocol or type that is of interest; nil for all.
    ///   - handler: called wherever the performance's caller is, in the order of the observers.
    /// - Returns: what ends it when it is called; the observer stays if this is dropped.
    @discardableResult
    public func observePerformances(
        of service: (any Any.Type)? = nil,
        _ handler: @escaping @Sendable (PerformEvent) -> Void
    ) -> @Sendable () -> Void {
        let attachments = self.attachments
        return PerformObservers.of(attachments).add { event in
            if service == nil || service == event.service { handler(event) }
        }
    }
}

/// The observers of a bus's performances.
final class PerformObservers: Sendable {
    private let state = Locked((last: 0, handlers: [Int: @Sendable (PerformEvent) -> Void]()))

    /// Those that are kept with a bus.
    static func of(_ attachments: Attachments) -> PerformObservers {
        attachments.value(of: PerformObservers.self, orSet: PerformObservers())
    }

    func add(_ handler: @escaping @Sendable (PerformEvent) -> Void) -> @Sendable () -> Void {
        let number = self.state.withLock { state in
            state.last += 1
            state.handlers[state.last] = handler
            return state.last
        }
        return { [weak self] in
            // Released outside the lock.
            let removed = self?.state.withLock { $0.handlers.removeValue(forKey: number) }
            _ = consume removed
        }
    }

    func report(_ event: PerformEvent) {
        let handlers = self.state.withLock { state in state.handlers.sorted { $0.key < $1.key }.map(\.value) }
        for handler in handlers { handler(event) }
    }
}
