public import WaybillRouting

/// Looks at each request before and after it changes what is shown.
///
/// Inspectors are asked in the order in which they were added. All methods have defaults that change nothing.
public protocol NavigationInspector: Sendable {
    /// Decides whether a request may proceed.
    ///
    /// False rejects the request. A thrown error rejects it as well, and becomes the cause of the rejection.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - source: The destination on top.
    /// - Returns: Whether the request may proceed.
    /// - Throws: The reason to reject the request.
    nonisolated(nonsending) func shouldTransition(
        _ request: NavigationRequest,
        from source: PresentedDestination?
    ) async throws -> Bool

    /// Supplies another destination, or wraps the destination that `make` creates.
    ///
    /// The method is called when a destination is created, and not when one is reused.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - source: The destination on top.
    ///   - make: Calls the following inspectors and the factory.
    /// - Returns: The destination to show, or nil for the result of `make`.
    /// - Throws: The reason why there is no destination, or the error of `make`.
    nonisolated(nonsending) func willTransition(
        _ request: NavigationRequest,
        from source: PresentedDestination?,
        make: nonisolated(nonsending) () async throws -> any Sendable
    ) async throws -> (any Sendable)?

    /// Observes the result of a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - result: The change, or the reason why there was none.
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
    ///   - shouldTransition: Whether the request may go on; it gets the destination on top as well.
    ///   - willTransition: Supplies another destination; nil for the one that is registered.
    ///   - didTransition: Gets the change, or the error of the request.
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

/// The decision of a navigator's global handler about a request.
public struct NavigationDecision: Sendable {
    let value: (any Sendable)?

    /// The navigator goes on.
    public static let proceed = Self(value: nil)

    /// The handler has taken the request over: nothing changes, and the caller gets this value.
    ///
    /// - Parameter value: The reply's value.
    /// - Returns: The decision.
    public static func handled(_ value: any Sendable = ()) -> Self { Self(value: value) }
}
