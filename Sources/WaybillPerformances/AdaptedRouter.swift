internal import WaybillEventLoop
internal import WaybillRouting

/// A maker that converts the destinations of a router to the protocol that the caller requires.
///
/// Each ``Performance`` has its own `AdaptedRouter`, because `AdaptedRouter` remembers the destination that
/// the router made, so that the router can remove that destination later.
final class AdaptedRouter<Provided: Sendable, Required: Sendable>: DestinationMaker {
    private let router: any DestinationMaker<Provided>
    private let adapter: @Sendable (Provided) -> Required
    private let made = Locked<WeakReference<Provided>?>(nil)

    init(_ router: any DestinationMaker<Provided>, _ adapter: @escaping @Sendable (Provided) -> Required) {
        self.router = router
        self.adapter = adapter
    }

    var mustBeRemovedFirst: Bool { self.router.mustBeRemovedFirst }

    nonisolated(nonsending) func make(
        _ origin: PerformOrigin,
        _ settings: (any Sendable)?
    ) async throws -> Required? {
        guard let provided = try await self.router.make(origin, settings) else { return nil }
        self.made.withLock { $0 = WeakReference(provided) }
        return self.adapter(provided)
    }

    func adopt(_ destination: Required) throws(RoutingError) {
        guard let provided = destination as? Provided else {
            throw RoutingError(
                .typeMismatch,
                message:
                    "the router makes a \(Provided.self), and an adapter converts it to a \(Required.self); "
                    + "the destination to adopt, a \(type(of: destination)), is not a \(Provided.self)"
            )
        }
        try self.router.adopt(provided)
        self.made.withLock { $0 = WeakReference(provided) }
    }

    nonisolated(nonsending) func prepare(_ destination: Required) async throws {
        if let provided = self.current { try await self.router.prepare(provided) }
    }

    nonisolated(nonsending) func check(_ destination: Required) async throws {
        if let provided = self.current { try await self.router.check(provided) }
    }

    nonisolated(nonsending) func remove(_ destination: Required) async throws {
        if let provided = self.current { try await self.router.remove(provided) }
    }

    /// The destination that the router made last.
    ///
    /// Only a weak reference is stored. The adapted destination keeps the router's destination alive, and the
    /// caller keeps the adapted destination alive.
    private var current: Provided? { self.made.withLock { $0?.held } }
}
