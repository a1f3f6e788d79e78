internal import WaybillEventLoop
internal import WaybillRouting

/// The patterns that are exposed to an ``Audience``, and the routes that are visible to the audience.
///
/// Changes of the exposures and of the ``RouteRegistry`` do not affect one another. Messages of this process
/// never read the exposures.
final class Exposures: Sendable {
    private let state: Locked<State>

    private struct State {
        var table: ExposureTable
        /// The number of changes of the table.
        var generation = 0
        var visible: VisibleRoutes?
        /// The latest URL and its operations, because a peer often publishes to a few URLs.
        var latest: (url: String, operations: ExposedOperations)?
    }

    init(_ configuration: MessageBus.Configuration) {
        self.state = Locked(State(table: ExposureTable(configuration)))
    }

    /// Changes the exposed patterns, and discards the cached values.
    func change<Value: Sendable, Failure>(
        _ body: (inout ExposureTable) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try self.state.withLock { state throws(Failure) in
            let value = try body(&state.table)
            state.generation += 1
            state.visible = nil
            state.latest = nil
            return value
        }
    }

    /// Returns the operations that a peer may perform on a URL.
    func operations(at url: String) throws(RoutingError) -> ExposedOperations {
        try self.state.withLock { state throws(RoutingError) in
            if let latest = state.latest, latest.url.hasSameBytes(as: url) { return latest.operations }
            let operations = try state.table.operations(at: url)
            state.latest = (url, operations)
            return operations
        }
    }

    var patterns: [(pattern: RoutePattern, operations: ExposedOperations)] {
        self.state.withLock { $0.table.patterns }
    }

    func visibleRoutes(of core: BusCore) -> VisibleRoutes {
        let routes = core.registry.generation
        let (table, generation, known) = self.state.withLock { ($0.table, $0.generation, $0.visible) }
        if let known, known.generation == routes { return known }
        // Compute the routes outside of the lock, because the computation tries every route.
        let visible = VisibleRoutes(of: core, exposed: table, generation: routes)
        self.state.withLock { state in
            if state.generation == generation { state.visible = visible }
        }
        return visible
    }
}

/// The routes that are visible to an audience.
///
/// A route is visible if all of its URLs are exposed for calls or sends. If only some URLs of a route are
/// exposed, the exposed pattern is visible instead, provided that all URLs of this pattern lead to one route.
/// Patterns are compared by 16 generated URLs of each pattern, as in ``MessageBus/validate(urls:services:)``.
struct VisibleRoutes: Sendable {
    /// The generation of the registry from which the routes were computed.
    let generation: Int
    private(set) var table: RouteTable<RouteDescription>

    init(of core: BusCore, exposed: ExposureTable, generation: Int) {
        self.generation = generation
        self.table = core.currentConfiguration.table()
        // A fixed seed makes the result reproducible.
        var generator = SeededGenerator(seed: 1)
        let described = core.describedRoutes
        for (route, description) in described {
            let isExposed = Self.examples(of: route.pattern, &generator).allSatisfy { url in
                (try? exposed.operations(at: url))?.isDisjoint(with: .answered) == false
            }
            if isExposed { _ = try? self.table.insert(route.pattern.text, description) }
        }
        for (pattern, operations) in exposed.patterns where !operations.isDisjoint(with: .answered) {
            guard let id = core.onlyRoute(of: Self.examples(of: pattern, &generator)),
                let description = described.first(where: { $0.route.id == id })?.description,
                !self.table.routes.contains(where: { $0.pattern.text == description.pattern })
            else { continue }
            _ = try? self.table.insert(pattern.text, description.described(by: pattern.text, target: nil))
        }
    }

    /// The descriptions of the visible routes, in the order of registration.
    var descriptions: [RouteDescription] { self.table.entries.map(\.handler) }

    private static func examples(of pattern: RoutePattern, _ generator: inout SeededGenerator) -> [String] {
        (0..<16).map { _ in pattern.example(using: &generator) }
    }
}

extension ExposedOperations {
    /// The operations whose messages reach the handler of a route.
    static let answered: Self = [.calls, .sends]
}

extension BusCore {
    /// Returns the route that all given URLs match, or nil when the URLs do not match the same route.
    fileprivate func onlyRoute(of urls: [String]) -> RouteID? {
        let found = self.registry.withTable { table in
            Set(urls.map { url in ((try? table.match(url)) ?? nil)?.route })
        }
        return found.count == 1 ? found.first ?? nil : nil
    }

    /// Returns whether the bus may send a value to a return URL that a peer gave.
    func isExposedForReturns(_ url: String, to audience: Audience) -> Bool {
        (try? self.exposures(to: audience).operations(at: url))?.isDisjoint(with: .answered) == false
    }

    /// Returns the error for a URL that does not exist for the audience: `noRoute`, or `invalidURL`.
    func notExposed(_ url: String, to audience: Audience) -> RoutingError {
        self.exposures(to: audience).visibleRoutes(of: self).table.noRoute(for: url)
    }

    /// Returns the error that a peer receives instead of an error, with suggestions from exposed URLs only.
    func asSeenOutside(_ error: RoutingError, at url: String, by audience: Audience) -> RoutingError {
        // An error that a handler threw has a route, and is passed on unchanged.
        error.code == .noRoute && error.route == nil ? self.notExposed(url, to: audience) : error
    }
}
