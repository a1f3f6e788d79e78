internal import WaybillEventLoop
public import WaybillRouting

/// An event of a destination, for observers.
///
/// A failed step has an event that begins with `will`, and no event that begins with `did`.
public struct NavigationEvent: Sendable {
    /// The kind of an event.
    @nonexhaustive
    public enum Kind: String, Sendable, Hashable {
        /// It is going to be shown.
        case willPerform
        /// It is shown.
        case didPerform
        /// It is going to be taken away.
        case willRemove
        /// It is gone.
        case didRemove
    }

    /// The kind of the event.
    public let kind: Kind

    /// The destination.
    public let destination: PresentedDestination

    /// The destination that was on top when the step began; the one below for a destination that goes.
    public let source: PresentedDestination?

    /// How it came to this.
    public let transition: RouteTransition

    /// Which presenter shows it.
    public let presenter: NavigationState.PresenterID
}

/// The observers of a navigator.
final class NavigationObservers: Sendable {
    private struct Observer {
        let number: Int
        let name: String?
        let body: @Sendable (NavigationEvent) -> Void
    }

    private let state = Locked((last: 0, observers: [Observer]()))

    func add(of name: String?, _ body: @escaping @Sendable (NavigationEvent) -> Void) -> @Sendable () -> Void
    {
        let number = self.state.withLock { state in
            state.last += 1
            state.observers.append(Observer(number: state.last, name: name, body: body))
            return state.last
        }
        return { [weak self] in
            // Released outside the lock.
            let old = self?.state.withLock { state in
                defer { state.observers.removeAll { $0.number == number } }
                return state.observers
            }
            _ = consume old
        }
    }

    /// Notifies observers before a change.
    func tellBefore(_ change: NavigationChange) {
        for destination in change.removed { self.tell(.willRemove, destination: destination, change: change) }
        for destination in change.added + [change.updated].compactMap(\.self) {
            self.tell(.willPerform, destination: destination, change: change)
        }
    }

    /// Notifies observers after a change.
    func tellAfter(_ change: NavigationChange) {
        for destination in change.removed { self.tell(.didRemove, destination: destination, change: change) }
        for destination in change.added + [change.updated].compactMap(\.self) {
            self.tell(.didPerform, destination: destination, change: change)
        }
    }

    private func tell(
        _ kind: NavigationEvent.Kind,
        destination: PresentedDestination,
        change: NavigationChange
    ) {
        let isRemoval = kind == .willRemove || kind == .didRemove
        let event = NavigationEvent(
            kind: kind,
            destination: destination,
            source: isRemoval ? change.below(destination) : change.source,
            transition: change.transition,
            presenter: change.presenter
        )
        for observer in self.state.withLock({ $0.observers })
        where observer.name == nil || observer.name == destination.entry.name { observer.body(event) }
    }
}
