internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

/// The routes of a bus, and how its loops see them without a lock.
///
/// The table is a value behind a lock. A loop reads a ``RouteSnapshot`` of it, which never changes, and looks
/// at ``generation`` to see whether there is a newer one. The first change after a snapshot copies the table;
/// so that a program that registers and routes in turn does not copy a large table each time, a changed table
/// is read under the lock until it has been read often enough to be worth a copy.
final class RouteRegistry: Sendable {
    /// Increases with every change.
    let generation = Atomic<Int>(0)
    /// Whether no middleware intercepts deliveries; the plain route asks this first, and so does a thread
    /// without a snapshot.
    let isPlain = Atomic<Bool>(true)
    private let state: Locked<State>
    private let observers = Locked(Observers())

    /// A large table is copied when it has been read once for this many routes in it.
    private static let routesPerRead = 256

    private struct Observers {
        struct Observer {
            let noteChange: @Sendable () -> Void
        }

        var all: [Int: Observer] = [:]
        var count = 0
    }

    private struct State {
        var table: RouteTable<Target>
        var connections = Connections()
        var middlewares = MiddlewareRegistry()
        var chain: MiddlewareChain?
        var snapshot: RouteSnapshot?
        var reads = 0

        /// The routes as they are now.
        func snapshot(_ generation: Int) -> RouteSnapshot {
            RouteSnapshot(
                table: self.table,
                connections: self.connections,
                generation: generation,
                chain: self.chain
            )
        }
    }

    init(table: RouteTable<Target>) {
        self.state = Locked(State(table: table))
    }

    /// Changes the routes and the connectors; readers see all of the change or nothing of it.
    func change<Result: Sendable, Failure: Error>(
        _ body: (inout RouteTable<Target>, inout Connections) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        defer { self.noteChange() }
        return try self.state.withLock { state throws(Failure) in
            state.snapshot = nil
            state.reads = 0
            defer { self.generation.add(1, ordering: .releasing) }
            return try body(&state.table, &state.connections)
        }
    }

    /// Calls code after each change of routes and of what is exposed, on the thread that made the change.
    ///
    /// - Returns: what ends it.
    func observe(_ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        let id = self.observers.withLock { observers in
            observers.count += 1
            observers.all[observers.count] = Observers.Observer(noteChange: body)
            return observers.count
        }
        return { [weak self] in
            // Released outside the lock: the deinitializer of what the code holds may use the bus.
            _ = self?.observers.withLock { $0.all.removeValue(forKey: id) }
        }
    }

    /// Calls the code that observes changes.
    func noteChange() {
        for observer in self.observers.withLock({ Array($0.all.values) }) { observer.noteChange() }
    }

    /// Changes the middlewares; messages that are routed afterwards meet the new ones.
    func intercept<Result: Sendable>(_ body: (inout MiddlewareRegistry) -> Result) -> Result {
        let change = self.state.withLock { state in
            let old = (state.middlewares, state.chain, state.snapshot)
            let result = body(&state.middlewares)
            state.chain = state.middlewares.chain
            self.isPlain.store(state.chain == nil, ordering: .releasing)
            if state.snapshot != nil {
                state.snapshot = state.snapshot(self.generation.load(ordering: .relaxed) + 1)
            }
            self.generation.add(1, ordering: .releasing)
            // Released outside the lock: the deinitializer of a middleware may use the bus.
            return (result: result, old: old)
        }
        return change.result
    }

    /// The middlewares around deliveries, as they are now, from any thread.
    var chain: MiddlewareChain? {
        if self.isPlain.load(ordering: .acquiring) { return nil }
        return self.state.withLock { $0.chain }
    }

    /// Every handler that is registered, each instance's for a route that has several, and every connector's.
    var handlers: [Handler] {
        self.state.withLock { state in
            state.table.routes.flatMap { state.table.handler(for: $0.id)?.members ?? [] }
                + state.connections.all.map(\.handler)
        }
    }

    /// The connectors as they are now.
    var connections: Connections { self.state.withLock { $0.connections } }

    /// The cluster that the bus has joined.
    var cluster: (any Cluster)? { self.state.withLock { $0.connections.cluster?.nodes } }

    /// Returns the target of a URL by the routes and connectors as they are now, from any thread.
    func resolve(
        _ url: String,
        _ passed: PassedValues?,
        on loop: ObjectIdentifier?
    ) -> ResolvedRoute {
        if let snapshot = self.snapshotIfWorthIt() { return snapshot.resolve(url, passed, on: loop) }
        return self.state.withLock { state in
            state.table.resolve(url, passed, on: loop, connections: state.connections)
        }
    }

    /// Where a URL would lead, from any thread.
    func reach(_ url: String) -> Reach {
        if let snapshot = self.snapshotIfWorthIt() { return snapshot.reach(url) }
        return self.state.withLock { $0.table.reach(url, $0.connections) }
    }

    /// Reads the table as it is now, from any thread.
    func read<Result: Sendable>(
        _ body: (borrowing RouteTable<Target>) throws(RoutingError) -> Result
    ) throws(RoutingError) -> Result {
        if let snapshot = self.snapshotIfWorthIt() { return try snapshot.read(body) }
        return try self.state.withLock { state throws(RoutingError) in try body(state.table) }
    }

    /// The table as it is now, unless it has changed so recently that a copy costs more than the lock.
    func snapshotIfWorthIt() -> RouteSnapshot? {
        self.state.withLock { state in
            if let snapshot = state.snapshot { return snapshot }
            state.reads += 1
            guard state.reads * Self.routesPerRead > state.table.count else { return nil }
            let snapshot = state.snapshot(self.generation.load(ordering: .relaxed))
            state.snapshot = snapshot
            return snapshot
        }
    }
}
