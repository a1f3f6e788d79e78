public import Waybill
internal import WaybillEventLoop

/// An event of a destination that is made on demand, for the observers of a bus.
public struct PerformEvent: Sendable {
    /// The kinds of events.
    @nonexhaustive
    public enum Kind: Sendable, Hashable {
        /// The destination has been made and prepared, and is about to be shown.
        case willPerform
        /// The destination has been shown, or does not need to be shown.
        case didPerform
        /// The destination is about to be hidden and removed.
        case willRemove
        /// The destination has been removed.
        case didRemove
    }

    /// The kind of the event.
    public let kind: Kind

    /// The destination.
    public let destination: any Sendable

    /// The source of the performance; nil if its caller set none.
    public let source: (any Sendable)?

    /// The transition by which the destination appears.
    public let transition: PerformTransition

    /// The protocol or type by which the destination was requested.
    public let service: any Any.Type
}

extension MessageBus {
    /// Observes the destinations that are made on demand and removed, around each performance and each
    /// removal.
    ///
    /// If a destination cannot be shown, its performance has a `willPerform` event and no `didPerform` event.
    /// A performance that fails earlier has neither.
    ///
    /// - Parameters:
    ///   - service: the protocol or type to observe; nil for all.
    ///   - handler: called in the isolation of the performance's caller, in the order of the observers.
    /// - Returns: a closure that removes the observer. The observer stays if the closure is not called.
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

    /// Returns the observers that are attached to a bus.
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
            // The handler is released outside the lock.
            let removed = self?.state.withLock { $0.handlers.removeValue(forKey: number) }
            _ = consume removed
        }
    }

    func report(_ event: PerformEvent) {
        let handlers = self.state.withLock { state in state.handlers.sorted { $0.key < $1.key }.map(\.value) }
        for handler in handlers { handler(event) }
    }
}
