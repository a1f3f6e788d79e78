public import Waybill
internal import WaybillEventLoop

/// An event of a destination that is created on demand, for the observers of a bus.
public struct PerformEvent: Sendable {
    /// The kind of an event.
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

    /// The kind of the event.
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
    /// Observes destinations that are created on demand, before and after each performance and each removal.
    ///
    /// If a destination cannot be shown, its performance has a `willPerform` and no `didPerform`. A
    /// performance that fails earlier has neither.
    ///
    /// - Parameters:
    ///   - service: The protocol or type of the observed destinations; nil for all.
    ///   - handler: Called with the isolation of the performance's caller, in the order of the observers.
    /// - Returns: A closure that ends the observation. Dropping it does not end the observation.
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
