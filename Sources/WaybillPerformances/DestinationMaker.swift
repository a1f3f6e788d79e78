internal import Waybill
internal import WaybillRouting

/// A router that a ``Performance`` can call without knowing the type of the router's settings.
protocol DestinationMaker<Destination>: Sendable {
    associatedtype Destination: Sendable

    var mustBeRemovedFirst: Bool { get }

    nonisolated(nonsending) func make(
        _ origin: PerformOrigin,
        _ settings: (any Sendable)?
    ) async throws -> Destination?

    /// Accepts a destination that the caller made. Throws if this maker cannot prepare the destination.
    func adopt(_ destination: Destination) throws(RoutingError)

    /// Ends the performance that began with `make` or `adopt`.
    ///
    /// If `isShown` is false, the performance has failed, and the previous destination remains.
    func endPerformance(isShown: Bool)

    nonisolated(nonsending) func prepare(_ destination: Destination) async throws
    nonisolated(nonsending) func check(_ destination: Destination) async throws
    nonisolated(nonsending) func remove(_ destination: Destination) async throws
}

/// A router that is registered on the bus.
///
/// The box creates a maker for each performance, because a maker that converts destinations keeps a reference
/// to the destination that it made.
final class RouterBox<Destination: Sendable>: AdaptableMaker {
    let makeMaker: @Sendable () -> any DestinationMaker<Destination>
    private let settings: any Sendable.Type
    private let takes: @Sendable (any Sendable) -> Bool

    /// Creates a box for a router.
    init<Settings: Sendable>(
        settings: Settings.Type,
        _ makeMaker: @escaping @Sendable () -> any DestinationMaker<Destination>
    ) {
        self.makeMaker = makeMaker
        self.settings = settings
        self.takes = { $0 is Settings }
    }

    private init(
        _ other: RouterBox<some Sendable>,
        _ makeMaker: @escaping @Sendable () -> any DestinationMaker<Destination>
    ) {
        self.makeMaker = makeMaker
        self.settings = other.settings
        self.takes = other.takes
    }

    /// Checks that the router accepts the type of some settings.
    func check(_ settings: any Sendable) throws(RoutingError) {
        guard !self.takes(settings) else { return }
        throw RoutingError(
            .typeMismatch,
            message: "the router of \(Destination.self) takes settings of type \(self.settings), "
                + "but the caller passed \(type(of: settings))"
        )
    }

    func adapted<Provided: Sendable, Required: Sendable>(
        by adapter: @escaping @Sendable (Provided) -> Required
    ) -> (any Sendable)? {
        guard let box = self as? RouterBox<Provided> else { return nil }
        return RouterBox<Required>(box) { AdaptedRouter(box.makeMaker(), adapter) }
    }
}

/// A maker that calls a router of the program.
struct TypedRouter<Router: ServiceRouter>: DestinationMaker {
    let router: Router

    var mustBeRemovedFirst: Bool { self.router.mustBeRemovedFirst }

    nonisolated(nonsending) func make(
        _ origin: PerformOrigin,
        _ settings: (any Sendable)?
    ) async throws -> Router.Destination? {
        // The type of the settings was checked when the caller asked for the performance.
        guard let own = settings.flatMap({ $0 as? Router.Settings }) ?? self.router.defaultSettings else {
            throw RoutingError(
                .missingParameter,
                message: "\(Router.self) needs settings of type \(Router.Settings.self): pass them, or give "
                    + "the router `defaultSettings`"
            )
        }
        return try await self.router.makeDestination(PerformRequest(own, origin))
    }

    func adopt(_ destination: Router.Destination) {}

    func endPerformance(isShown: Bool) {}

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
