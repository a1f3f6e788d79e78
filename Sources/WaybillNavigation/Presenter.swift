public import WaybillRouting

/// A presenter shows destinations.
///
/// It is the only part of navigation that uses views.
///
/// A ``Navigator`` decides on changes, and calls one of these methods for each change. When the method
/// returns, the change has been made. When it throws an error, the state of the navigator is unchanged. Throw
/// `RoutingError.refused(_:)` to reject a change.
///
/// An actor can be a presenter. A class on the main actor can be one if each of these methods has
/// `@MainActor` as well, because a method that runs with the isolation of its caller does not take the
/// isolation of its type. The methods must not wait for another step of the same navigator. Such a request
/// fails with `refused`.
public protocol Presenter: Sendable {
    /// Shows the destinations in ``NavigationChange/added``, and removes the destinations in
    /// ``NavigationChange/removed``.
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

    /// The entry of the destination in the state.
    public let entry: NavigationEntry

    /// The destination, from its factory or an inspector.
    public let value: any Sendable
}

/// One change of the shown destinations.
public struct NavigationChange: Sendable {
    /// Which presenter it is for.
    public let presenter: NavigationState.PresenterID

    /// The transition of the request, or `back` or `remove` for a removal.
    public let transition: RouteTransition

    /// The destinations after the change, top last.
    public let stack: [PresentedDestination]

    /// The added destinations, bottom first.
    ///
    /// There are several after a restoration.
    public let added: [PresentedDestination]

    /// The removed destinations, top first.
    public let removed: [PresentedDestination]

    /// The remaining destination with new parameters, or nil.
    public let updated: PresentedDestination?

    /// The destination that was on top before the change.
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
