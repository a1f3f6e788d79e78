public import WaybillRouting

/// Shows destinations: the only part of navigation that knows views.
///
/// A ``Navigator`` decides what is shown, and calls one of these methods for each change. When it returns,
/// the change has happened; when it throws, nothing has, and the state of the navigator is as it was. Throw
/// `RoutingError.refused(_:)` to say that it shall not happen.
///
/// An actor can be a presenter, and so can a class on the main actor, with `@MainActor` before each of these
/// methods as well: a witness of a method that runs where its caller is takes over no isolation from its
/// type. What it calls must not wait for another step of the same navigator; that fails with `refused`.
public protocol Presenter: Sendable {
    /// Shows what is new: ``NavigationChange/added``; ``NavigationChange/removed`` goes at the same time.
    nonisolated(nonsending) func show(_ change: NavigationChange) async throws

    /// Brings a destination to the front, ``NavigationChange/updated``, that has got new parameters.
    nonisolated(nonsending) func update(_ change: NavigationChange) async throws

    /// Takes ``NavigationChange/removed`` away.
    nonisolated(nonsending) func remove(_ change: NavigationChange) async throws
}

/// A destination that is shown, or about to be.
public struct PresentedDestination: Sendable, Identifiable {
    /// Which one it is.
    public var id: Int { self.entry.id }

    /// What the state says of it.
    public let entry: NavigationEntry

    /// The destination: what its factory made, or an inspector supplied.
    public let value: any Sendable
}

/// One step from what is shown to what is shown next.
public struct NavigationChange: Sendable {
    /// Which presenter it is for.
    public let presenter: NavigationState.PresenterID

    /// How it came to this: the transition of the request, or `back` and `remove` for what goes.
    public let transition: RouteTransition

    /// What is shown afterwards, the top last.
    public let stack: [PresentedDestination]

    /// What is new, the bottom first; one destination, or several that are restored.
    public let added: [PresentedDestination]

    /// What goes, the top first.
    public let removed: [PresentedDestination]

    /// What stays and has got new parameters.
    public let updated: PresentedDestination?

    /// What was on top before.
    public let source: PresentedDestination?

    /// The request that asked for the step, with the values that its caller passed, as `animated`; nil for a
    /// step that a program or a view asked for, and for a state that is restored.
    public let request: NavigationRequest?

    /// The destinations that were shown before, the top last.
    let before: [PresentedDestination]

    /// Returns the destination below a removed one, on which that was shown.
    func below(_ removed: PresentedDestination) -> PresentedDestination? {
        guard let index = self.before.firstIndex(where: { $0.id == removed.id }), index > 0 else {
            return nil
        }
        return self.before[index - 1]
    }
}
