public import WaybillRouting

/// Looks at each request before and after it changes what is shown.
///
/// Inspectors are asked in the order in which they were added. All methods have defaults that change nothing.
public protocol NavigationInspector: Sendable {
    /// Whether the request may go on; false refuses it, and what is thrown is the cause of the refusal.
    ///
    /// - Parameters:
    ///   - request: what is wanted.
    ///   - source: what is on top.
    /// - Returns: whether the request may go on.
    /// - Throws: why it may not.
    nonisolated(nonsending) func shouldTransition(
        _ request: NavigationRequest,
        from source: PresentedDestination?
    ) async throws -> Bool

    /// Supplies another destination, or wraps the one that `make` makes.
    ///
    /// It is asked where a destination is made, and not where one is reused.
    ///
    /// - Parameters:
    ///   - request: what is wanted.
    ///   - source: what is on top.
    ///   - make: the inspectors behind this one, and the factory.
    /// - Returns: what is shown; nil for what `make` makes.
    /// - Throws: why there is none, and what `make` throws.
    nonisolated(nonsending) func willTransition(
        _ request: NavigationRequest,
        from source: PresentedDestination?,
        make: nonisolated(nonsending) () async throws -> any Sendable
    ) async throws -> (any Sendable)?

    /// Sees what became of the request.
    ///
    /// - Parameters:
    ///   - request: what was wanted.
    ///   - result: the change, or why there was none.
    nonisolated(nonsending) func didTransition(
        _ request: NavigationRequest,
        result: Result<NavigationChange, RoutingError>
    ) async
}

extension NavigationInspector {
    /// Lets it go on.
    public nonisolated(nonsending) func shouldTransition(
        _ request: NavigationRequest,
        from source: PresentedDestination?
    ) async throws -> Bool { true }

    /// Leaves it to the factory.
    public nonisolated(nonsending) func willTransition(
        _ request: NavigationRequest,
        from source: PresentedDestination?,
        make: nonisolated(nonsending) () async throws -> any Sendable
    ) async throws -> (any Sendable)? { nil }

    /// Does nothing.
    public nonisolated(nonsending) func didTransition(
        _ request: NavigationRequest,
        result: Result<NavigationChange, RoutingError>
    ) async {}
}

extension Navigator {
    /// Adds closures as an inspector behind the present ones; each has a default that changes nothing.
    ///
    /// Use a ``NavigationInspector`` to wrap the destination that is made.
    ///
    /// - Parameters:
    ///   - shouldTransition: whether the request may go on; it gets the destination on top as well.
    ///   - willTransition: supplies another destination; nil for the one that is registered.
    ///   - didTransition: gets the change, or the error of the request.
    public nonisolated func addInspector(
        shouldTransition:
            @escaping @Sendable (
                NavigationRequest, _ source: PresentedDestination?
            ) async throws -> Bool = { _, _ in true },
        willTransition:
            @escaping @Sendable (
                NavigationRequest, _ source: PresentedDestination?
            ) async throws -> (any Sendable)? = { _, _ in nil },
        didTransition:
            @escaping @Sendable (
                NavigationRequest, Result<NavigationChange, RoutingError>
            ) async -> Void = { _, _ in }
    ) {
        self.addInspector(
            ClosureInspector(should: shouldTransition, will: willTransition, did: didTransition)
        )
    }
}

/// An inspector made of closures.
private struct ClosureInspector: NavigationInspector {
    let should: @Sendable (NavigationRequest, PresentedDestination?) async throws -> Bool
    let will: @Sendable (NavigationRequest, PresentedDestination?) async throws -> (any Sendable)?
    let did: @Sendable (NavigationRequest, Result<NavigationChange, RoutingError>) async -> Void

    func shouldTransition(
        _ request: NavigationRequest,
        from source: PresentedDestination?
    ) async throws -> Bool { try await self.should(request, source) }

    func willTransition(
        _ request: NavigationRequest,
        from source: PresentedDestination?,
        make: nonisolated(nonsending) () async throws -> any Sendable
    ) async throws -> (any Sendable)? { try await self.will(request, source) }

    func didTransition(
        _ request: NavigationRequest,
        result: Result<NavigationChange, RoutingError>
    ) async { await self.did(request, result) }
}

/// What the global handler of a navigator does with a request.
public struct NavigationDecision: Sendable {
    let value: (any Sendable)?

    /// The navigator goes on.
    public static let proceed = Self(value: nil)

    /// The handler has taken the request over: nothing changes, and the caller gets this value.
    ///
    /// - Parameter value: the reply's value.
    /// - Returns: the decision.
    public static func handled(_ value: any Sendable = ()) -> Self { Self(value: value) }
}
