internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

/// The routes, connectors and middlewares of a bus.
struct Routes: VersionedValue {
    var table: RouteTable<Target>
    var connections = Connections()
    fileprivate var middlewares = MiddlewareRegistry()

    /// The middlewares that intercept messages; nil when the bus has none.
    fileprivate(set) var chain: MiddlewareChain?

    init(table: RouteTable<Target>) { self.table = table }

    var count: Int { self.table.count }

    func reach(_ url: String) -> Reach { self.table.reach(url, self.connections) }
}

/// The routes of a bus, which its loops read without a lock.
final class RouteRegistry: Sendable {
    /// Whether no middleware intercepts messages.
    ///
    /// Each delivery reads this flag first, so that a bus without middlewares does not look for the chain.
    let isPlain = Atomic<Bool>(true)
    /// Whether the bus has joined a cluster, to which it also sends publications.
    let hasCluster = Atomic<Bool>(false)
    let routes: Versioned<Routes>
    private let observers = Locked(Numbered<@Sendable () -> Void>())

    init(table: RouteTable<Target>) { self.routes = Versioned(Routes(table: table)) }

    /// Changes the routes and the connectors, so that readers see either the whole change or no change.
    func change<Result: Sendable, Failure: Error>(
        _ body: (inout RouteTable<Target>, inout Connections) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        defer { self.noteChange() }
        return try self.routes.change { routes throws(Failure) in
            defer { self.hasCluster.store(routes.connections.cluster != nil, ordering: .relaxed) }
            return try body(&routes.table, &routes.connections)
        }
    }

    /// Calls a closure after each change of the routes or of the exposed patterns, until the result is
    /// called.
    ///
    /// The closure runs on the thread that made the change. The bus may hold locks at that time, so the
    /// closure must not call the bus.
    func observe(_ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        let number = self.observers.withLock { $0.add(body) }
        return { [weak self] in _ = self?.observers.withLock { $0.remove(number) } }
    }

    /// Calls the closures that observe changes.
    func noteChange() {
        for observer in self.observers.withLock({ $0.values }) { observer() }
    }

    /// Changes the middlewares for messages that are routed after the change.
    func changeMiddlewares<Result: Sendable>(_ body: (inout MiddlewareRegistry) -> Result) -> Result {
        self.routes.changeSmallPart { routes in
            let result = body(&routes.middlewares)
            routes.chain = routes.middlewares.chain
            self.isPlain.store(routes.chain == nil, ordering: .releasing)
            return result
        }
    }

    /// A number that increases with every change.
    var generation: Int { self.routes.generation.load(ordering: .acquiring) }

    /// The current middlewares that intercept messages, for readers on any thread.
    var chain: MiddlewareChain? {
        if self.isPlain.load(ordering: .acquiring) { return nil }
        return self.routes.readUnderLock { $0.chain }
    }

    /// All registered handlers: the handlers of every instance of each route, and of all connectors.
    var handlers: [Handler] {
        self.routes.readUnderLock { routes in
            routes.table.entries.flatMap(\.handler.members) + routes.connections.all.map(\.handler)
        }
    }

    var connections: Connections { self.routes.readUnderLock { $0.connections } }

    var cluster: (any Cluster)? { self.connections.cluster?.nodes }

    /// Returns the target of a URL according to the current routes and connectors, on any thread.
    func resolve(_ url: String, _ passed: PassedValues?, on loop: ObjectIdentifier?) -> ResolvedRoute {
        let found = self.routes.read { routes in
            routes.table.findTarget(
                of: url,
                passed,
                on: loop,
                choosesInstance: false,
                connections: routes.connections
            )
        }
        // A value of the program may select the instance, and its description must not run under a lock.
        guard case .instances(let group) = found.target else { return found }
        return group.resolve(found.parameters, passed, on: loop)
    }

    /// Returns whether and how a URL can be reached, on any thread.
    func reach(_ url: String) -> Reach { self.routes.read { $0.reach(url) } }

    func address(of url: String) throws(RoutingError) -> Address {
        try self.withTable { table throws(RoutingError) in try table.address(of: url) }
    }

    /// Reads the current table, on any thread.
    func withTable<Result: Sendable, Failure: Error>(
        _ body: (borrowing RouteTable<Target>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try self.routes.read { routes throws(Failure) in try body(routes.table) }
    }
}
