internal import WaybillEventLoop
internal import WaybillRouting

/// A maker that converts the destinations of a router to the protocol that the caller requires.
///
/// Each ``Performance`` has its own `AdaptedRouter`, because `AdaptedRouter` remembers the destination that
/// the router made, so that the router can remove that destination later.
final class AdaptedRouter<Provided: Sendable, Required: Sendable>: DestinationMaker {
    private let router: any DestinationMaker<Provided>
    private let adapter: @Sendable (Provided) -> Required
    private let state = Locked(State())

    private struct State {
        /// The destination of the performance that has not ended yet.
        var made: Provided?
        /// Whether the adapted destination of that performance is a value, which cannot keep `made` alive.
        var isValue = false
        /// The destination that ``remove(_:)`` removes.
        var shown: WeakReference<Provided>?
        /// A strong reference to the destination in `shown`, if the adapted destination is a value.
        var kept: Provided?
    }

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
        let adapted = self.adapter(provided)
        self.begin(provided, adapted)
        return adapted
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
        self.begin(provided, destination)
    }

    private func begin(_ provided: Provided, _ adapted: Required) {
        let isValue = !(type(of: adapted as Any) is AnyClass)
        _ = self.state.withLock { state in
            state.isValue = isValue
            return Swift.exchange(&state.made, with: provided)
        }
    }

    /// Ends the performance.
    ///
    /// After that, only a weak reference to the router's destination is stored. The adapted object keeps the
    /// router's destination alive, and the caller keeps the adapted object alive.
    func endPerformance(isShown: Bool) {
        _ = self.state.withLock { state in
            let old = state
            if isShown, let made = state.made {
                state.shown = WeakReference(made)
                state.kept = state.isValue ? made : nil
            }
            state.made = nil
            return old
        }
        self.router.endPerformance(isShown: isShown)
    }

    nonisolated(nonsending) func prepare(_ destination: Required) async throws {
        if let made = self.state.withLock({ $0.made }) { try await self.router.prepare(made) }
    }

    nonisolated(nonsending) func check(_ destination: Required) async throws {
        if let made = self.state.withLock({ $0.made }) { try await self.router.check(made) }
    }

    nonisolated(nonsending) func remove(_ destination: Required) async throws {
        guard let shown = self.state.withLock({ $0.shown?.held }) else { return }
        try await self.router.remove(shown)
        _ = self.state.withLock { ($0.shown.take(), $0.kept.take()) }
    }
}
