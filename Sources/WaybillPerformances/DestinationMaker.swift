internal import Waybill
internal import WaybillRouting

/// What a performance acts through: a router whose type of settings is not known.
protocol DestinationMaker<Destination>: Sendable {
    associatedtype Destination: Sendable

    var mustBeRemovedFirst: Bool { get }

    nonisolated(nonsending) func make(
        _ origin: PerformOrigin,
        _ settings: (any Sendable)?
    ) async throws -> Destination?

    nonisolated(nonsending) func prepare(_ destination: Destination) async throws
    nonisolated(nonsending) func check(_ destination: Destination) async throws
    nonisolated(nonsending) func remove(_ destination: Destination) async throws
}

/// A router, as the register holds it: each performance gets a maker of its own, since one that adapts knows
/// what it has made.
final class RouterBox<Destination: Sendable>: AdaptableMaker {
    let makeMaker: @Sendable () -> any DestinationMaker<Destination>

    init(_ makeMaker: @escaping @Sendable () -> any DestinationMaker<Destination>) {
        self.makeMaker = makeMaker
    }

    func adapted<Provided: Sendable, Required: Sendable>(
        by adapter: @escaping @Sendable (Provided) -> Required
    ) -> (any Sendable)? {
        guard let box = self as? RouterBox<Provided> else { return nil }
        return RouterBox<Required> { AdaptedRouter(box.makeMaker(), adapter) }
    }
}

/// A router that a program has written.
struct TypedRouter<Router: ServiceRouter>: DestinationMaker {
    let router: Router

    var mustBeRemovedFirst: Bool { self.router.mustBeRemovedFirst }

    nonisolated(nonsending) func make(
        _ origin: PerformOrigin,
        _ settings: (any Sendable)?
    ) async throws -> Router.Destination? {
        let own: Router.Settings
        if let settings {
            guard let fitting = settings as? Router.Settings else {
                throw RoutingError(
                    .typeMismatch,
                    message: "expected settings of type \(Router.Settings.self), "
                        + "but the caller passed \(type(of: settings))"
                )
            }
            own = fitting
        } else if let fallback = self.router.defaultSettings {
            own = fallback
        } else {
            throw RoutingError(
                .missingParameter,
                message: "its router needs settings of type \(Router.Settings.self)"
            )
        }
        return try await self.router.makeDestination(PerformRequest(own, origin))
    }

    nonisolated(nonsending) func prepare(_ destination: Router.Destination) async throws {
        try await self.router.prepare(destination)
    }

    nonisolated(nonsending) func check(_ destination: Router.Destination) async throws {
        try await self.router.check(destination)
    }

    nonisolated(nonsending) func remove(_ destination: Router.Destination) async throws {
        try await self.router.remove(destination)
    }
}
