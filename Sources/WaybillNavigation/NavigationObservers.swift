internal import WaybillEventLoop
public import WaybillRouting

/// An event of a destination, for observers of a navigator.
///
/// If a step is rejected or cannot make its destination, observers receive no event. If a step fails later,
/// for example in the presenter, observers receive a `will` event and no `did` event.
public struct NavigationEvent: Sendable {
    /// The kinds of events.
    @nonexhaustive
    public enum Kind: String, Sendable, Hashable {
        /// The destination is about to be shown.
        case willPerform
        /// The destination is shown.
        case didPerform
        /// The destination is about to be removed.
        case willRemove
        /// The destination has been removed.
        case didRemove
    }

    /// The kind of the event.
    public let kind: Kind

    /// The destination.
    public let destination: PresentedDestination

    /// The top destination before the step.
    ///
    /// For a removed destination, the source is the destination directly below the removed destination.
    public let source: PresentedDestination?

    /// The transition of the step.
    public let transition: RouteTransition

    /// The name of the presenter that shows the destination.
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
            _ = self?.state.withLock { state in
                defer { state.observers.removeAll { $0.number == number } }
                return state.observers
            }
        }
    }

    /// Reports the `will` events of a change, before the presenter makes the change.
    func tellBefore(_ change: NavigationChange) {
        for destination in change.removed { self.tell(.willRemove, destination: destination, change: change) }
        for destination in change.added + [change.updated].compactMap(\.self) {
            self.tell(.willPerform, destination: destination, change: change)
        }
    }

    /// Reports the `did` events of a change, after the presenter has made the change.
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
