internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

/// What of a bus is exposed to an ``Audience``, and what of its routes that therefore sees.
///
/// It is apart from the ``RouteRegistry``: a change of one does not disturb the other, and a message of this
/// process does not come here.
final class Exposures: Sendable {
    private let state: Locked<State>

    private struct State {
        var table: ExposureTable
        /// How often the table has changed.
        private(set) var generation = 0
        var visible: VisibleRoutes?
        /// The patterns that are exposed for subscribing, once a peer has subscribed.
        var subscribable: [RoutePattern]?
        /// The URL that was looked up last: a peer publishes often to few of them.
        var latest: (url: String, operations: ExposedOperations)?

        /// What every change does.
        mutating func outdate() {
            self.generation += 1
            self.visible = nil
            self.subscribable = nil
            self.latest = nil
        }
    }

    init(_ configuration: MessageBus.Configuration) {
        self.state = Locked(State(table: ExposureTable(configuration)))
    }

    func insert(_ pattern: String, _ operations: ExposedOperations) throws(RoutingError) -> ExposureTable.ID {
        try self.state.withLock { state throws(RoutingError) in
            let id = try state.table.insert(pattern, operations)
            state.outdate()
            return id
        }
    }

    func remove(_ id: ExposureTable.ID) {
        self.state.withLock { state in
            state.table.remove(id)
            state.outdate()
        }
    }

    func setDefaultScheme(_ scheme: String) {
        self.state.withLock { state in
            state.table.setDefaultScheme(scheme)
            state.outdate()
        }
    }

    /// What a peer may do with a URL.
    ///
    /// - Throws: `invalidURL`.
    func operations(at url: String) throws(RoutingError) -> ExposedOperations {
        try self.state.withLock { state throws(RoutingError) in
            if let latest = state.latest, latest.url.hasSameBytes(as: url) { return latest.operations }
            let operations = try state.table.operations(at: url)
            state.latest = (url, operations)
            return operations
        }
    }

    /// Whether a URL that matches a pattern may be exposed for subscribing.
    func maySubscribe(to pattern: RoutePattern) -> Bool {
        let exposed = self.state.withLock { state in
            let exposed =
                state.subscribable
                ?? state.table.patterns.filter { $0.operations.contains(.subscribing) }.map(\.pattern)
            state.subscribable = exposed
            return exposed
        }
        return exposed.contains { pattern.mayOverlap(with: $0) }
    }

    /// The patterns, with their operations, as they are now.
    var patterns: [(pattern: RoutePattern, operations: ExposedOperations)] {
        self.state.withLock { $0.table.patterns }
    }

    /// The routes that peers see, as they are now.
    func visibleRoutes(of core: BusCore) -> VisibleRoutes {
        let routes = core.registry.generation.load(ordering: .acquiring)
        let (table, generation, known) = self.state.withLock { ($0.table, $0.generation, $0.visible) }
        if let known, known.generation == routes { return known }
        // Outside the lock, since it tries every route.
        let visible = VisibleRoutes(of: core, exposed: table, generation: routes)
        self.state.withLock { state in
            if state.generation == generation { state.visible = visible }
        }
        return visible
    }
}

/// The routes that peers see: those of which every URL is exposed for calls or sends, and of the others the
/// patterns that are exposed, where these lead to one route.
///
/// Patterns are compared by made-up URLs, 16 each, as ``MessageBus/validate(urls:services:)`` does.
struct VisibleRoutes: Sendable {
    /// The generation of the registry that they belong to.
    let generation: Int
    private(set) var table: RouteTable<RouteDescription>

    private static let examples = 16

    init(of core: BusCore, exposed: ExposureTable, generation: Int) {
        self.generation = generation
        self.table = core.currentConfiguration.table()
        // A fixed seed makes the result reproducible.
        var generator = SeededGenerator(seed: 1)
        let described = core.describedRoutes
        for (route, description) in described where self.isExposed(route.pattern, exposed, &generator) {
            _ = try? self.table.insert(route.pattern.text, description)
        }
        for (pattern, operations) in exposed.patterns where !operations.isDisjoint(with: .answered) {
            guard let id = core.onlyRoute(of: Self.examples(of: pattern, &generator)),
                let description = described.first(where: { $0.route.id == id })?.description,
                !self.table.routes.contains(where: { $0.pattern.text == description.pattern })
            else { continue }
            _ = try? self.table.insert(pattern.text, description.with(pattern: pattern.text, target: nil))
        }
    }

    /// What is known of them, in the order of registration.
    var descriptions: [RouteDescription] {
        self.table.routes.compactMap { self.table.handler(for: $0.id) }
    }

    private func isExposed(
        _ pattern: RoutePattern,
        _ exposed: ExposureTable,
        _ generator: inout SeededGenerator
    ) -> Bool {
        Self.examples(of: pattern, &generator).allSatisfy { url in
            let operations = (try? exposed.operations(at: url)) ?? []
            return !operations.isDisjoint(with: .answered)
        }
    }

    private static func examples(of pattern: RoutePattern, _ generator: inout SeededGenerator) -> [String] {
        (0..<Self.examples).map { _ in pattern.example(using: &generator) }
    }
}

extension ExposedOperations {
    /// The operations that lead to a route's handler.
    static let answered: Self = [.calls, .sends]
}

extension BusCore {
    /// The route that all of some URLs match.
    fileprivate func onlyRoute(of urls: [String]) -> RouteID? {
        let found = try? self.registry.read { table throws(RoutingError) in
            urls.map { url in ((try? table.match(url)) ?? nil)?.route }
        }
        guard let found, let first = found.first, let route = first, found.allSatisfy({ $0 == route }) else {
            return nil
        }
        return route
    }

    /// Whether a value may be sent to a return URL that a peer gave.
    func isExposedForReturns(_ url: String, to audience: Audience) -> Bool {
        let operations = (try? self.exposures(to: audience).operations(at: url)) ?? []
        return !operations.isDisjoint(with: .answered)
    }

    /// The error of a URL that does not exist for peers: `noRoute`, or `invalidURL`.
    func notExposed(_ url: String, to audience: Audience) -> RoutingError {
        self.exposures(to: audience).visibleRoutes(of: self).table.noRoute(for: url)
    }

    /// The error as a peer may see it: suggestions are made over what is exposed.
    func asSeenOutside(_ error: RoutingError, at url: String, by audience: Audience) -> RoutingError {
        // An error with a route is a handler's own.
        error.code == .noRoute && error.route == nil ? self.notExposed(url, to: audience) : error
    }
}
