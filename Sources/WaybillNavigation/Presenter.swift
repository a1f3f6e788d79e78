public import WaybillRouting

/// A type that shows destinations, for example as views.
///
/// Only presenters depend on views. All other parts of navigation do not.
///
/// A ``Navigator`` decides what is shown, and calls one of these methods for each change. When the method
/// returns, the change is complete. When it throws, nothing has changed, and the navigator keeps its state.
/// To reject a change, throw `RoutingError.refused(_:)`.
///
/// An actor can be a presenter, and so can a class on the main actor. The class also needs `@MainActor`
/// before each of these methods: a method that implements a `nonisolated(nonsending)` requirement does not
/// inherit the isolation of its type.
///
/// Code that a presenter calls must not wait for another step of the same navigator. The request for the
/// other step fails with `refused`, because the navigator makes one step at a time.
public protocol Presenter: Sendable {
    /// Shows the new destinations in ``NavigationChange/added``, and removes the destinations in
    /// ``NavigationChange/removed``.
    nonisolated(nonsending) func show(_ change: NavigationChange) async throws

    /// Brings the destination in ``NavigationChange/updated`` to the front, with its new parameters.
    nonisolated(nonsending) func update(_ change: NavigationChange) async throws

    /// Removes the destinations in ``NavigationChange/removed``.
    nonisolated(nonsending) func remove(_ change: NavigationChange) async throws
}

/// A destination that is shown, or is about to be shown.
public struct PresentedDestination: Sendable, Identifiable {
    /// The ID of the destination's entry.
    public var id: Int { self.entry.id }

    /// The entry of the destination in the state.
    public let entry: NavigationEntry

    /// The destination itself, which a factory made or an inspector supplied.
    public let value: any Sendable
}

/// One step that changes the shown destinations.
public struct NavigationChange: Sendable {
    /// The name of the presenter.
    public let presenter: NavigationState.PresenterID

    /// The transition of the request, or `back` and `remove` for steps that remove destinations.
    public let transition: RouteTransition

    /// The destinations after the step, with the top last.
    public let stack: [PresentedDestination]

    /// The new destinations, the bottom first.
    ///
    /// The array has more than one element only when a state is restored.
    public let added: [PresentedDestination]

    /// The removed destinations, the top first.
    public let removed: [PresentedDestination]

    /// The destination that stays shown and has new parameters; nil if no destination is reused.
    public let updated: PresentedDestination?

    /// The top destination before the step.
    public let source: PresentedDestination?

    /// The request that caused the step, with the values that the caller passed, for example `animated`.
    ///
    /// The property is nil for a step without a URL, and when a state is restored.
    public let request: NavigationRequest?

    /// The destinations that were shown before the step, the top last.
    let before: [PresentedDestination]

    /// Returns the destination directly below a removed destination.
    func below(_ removed: PresentedDestination) -> PresentedDestination? {
        guard let index = self.before.firstIndex(where: { $0.id == removed.id }), index > 0 else {
            return nil
        }
        return self.before[index - 1]
    }
}
