public import Waybill
internal import WaybillEventLoop

/// An event of a ``Performance``, which makes, shows, and removes a destination on demand.
public struct PerformEvent: Sendable {
    /// The kinds of events.
    @nonexhaustive
    public enum Kind: Sendable, Hashable {
        /// The destination has been made and prepared, and is about to be shown.
        case willPerform
        /// The destination has been shown, or has only been made because the transition is `make`.
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

    /// The place from which the destination was requested, for example a screen; nil if the caller set none.
    public let source: (any Sendable)?

    /// The transition by which the destination appears.
    public let transition: PerformTransition

    /// The protocol or type by which the caller requested the destination.
    public let service: any Any.Type
}

extension MessageBus {
    /// Observes the destinations that performances of the bus make and remove.
    ///
    /// If a destination is made but cannot be shown, the observer receives `willPerform` and not
    /// `didPerform`. If a performance fails before its destination is made, the observer receives neither
    /// event.
    ///
    /// - Parameters:
    ///   - service: The protocol or type of the observed destinations; nil to observe all destinations.
    ///   - handler: A closure that is called for each event, in the isolation of the performance's caller.
    ///     Observers are called in the order in which they were added.
    /// - Returns: A closure that removes the observer. The bus keeps the observer until the closure is
    ///   called.
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
        return { [weak self] in _ = self?.state.withLock { $0.handlers.removeValue(forKey: number) } }
    }

    func report(_ event: PerformEvent) {
        let handlers = self.state.withLock { state in state.handlers.sorted { $0.key < $1.key }.map(\.value) }
        for handler in handlers { handler(event) }
    }
}
