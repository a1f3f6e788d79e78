public import WaybillRouting

/// A type that the navigator calls for each request before and after the request changes the shown
/// destinations.
///
/// Inspectors are called in the order in which they were added. All methods have defaults that change
/// nothing.
public protocol NavigationInspector: Sendable {
    /// Returns whether a request may continue.
    ///
    /// If the method returns false, the request is rejected with `refused`. If the method throws an error,
    /// the request is also rejected with `refused`, and the thrown error is the cause.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - source: The top destination; nil if nothing is shown.
    /// - Returns: Whether the request may continue.
    /// - Throws: The reason to reject the request.
    nonisolated(nonsending) func shouldTransition(
        _ request: NavigationRequest,
        from source: PresentedDestination?
    ) async throws -> Bool

    /// Supplies the destination of a request in place of the registered destination.
    ///
    /// The method may also wrap the destination that `make` returns. The method is called when a destination
    /// is made, and not when a destination is reused.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - source: The top destination; nil if nothing is shown.
    ///   - make: Calls the inspectors after this inspector, and then the factory of the destination. A second
    ///     call returns the same destination.
    /// - Returns: The destination to show; nil to use the destination that `make` returns.
    /// - Throws: The reason why the inspector supplies no destination, or the error of `make`.
    nonisolated(nonsending) func willTransition(
        _ request: NavigationRequest,
        from source: PresentedDestination?,
        make: nonisolated(nonsending) () async throws -> any Sendable
    ) async throws -> (any Sendable)?

    /// Receives the result of a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - result: The change, or the error of the request.
    nonisolated(nonsending) func didTransition(
        _ request: NavigationRequest,
        result: Result<NavigationChange, RoutingError>
    ) async
}

extension NavigationInspector {
    /// Returns true.
    public nonisolated(nonsending) func shouldTransition(
        _ request: NavigationRequest,
        from source: PresentedDestination?
    ) async throws -> Bool { true }

    /// Returns nil, so that the destination of `make` is used.
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
    /// Adds an inspector that consists of closures.
    ///
    /// The inspector is called after the inspectors that were added before.
    ///
    /// Each closure has a default that changes nothing. To wrap a destination, use a ``NavigationInspector``
    /// instead.
    ///
    /// - Parameters:
    ///   - shouldTransition: A closure that returns whether the request may continue. The closure also
    ///     receives the top destination.
    ///   - willTransition: Supplies the destination; nil for the registered destination.
    ///   - didTransition: A closure that receives the change, or the error of the request.
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

/// An inspector that consists of closures.
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

/// The decision of a navigator's global handler about a request.
public struct NavigationDecision: Sendable {
    let value: (any Sendable)?

    /// The navigator continues with the request.
    public static let proceed = Self(value: nil)

    /// Returns the decision that the handler itself has answered the request.
    ///
    /// The shown destinations do not change, and the caller receives a value.
    ///
    /// - Parameter value: The reply's value.
    /// - Returns: The decision.
    public static func handled(_ value: any Sendable = ()) -> Self { Self(value: value) }
}
