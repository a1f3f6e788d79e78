internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

/// The routes of a bus, which its loops read without a lock.
///
/// The table is a value behind a lock. A loop reads an immutable copy of the table, a ``RouteSnapshot``, and
/// compares ``generation`` to detect that a newer copy exists. The first change after a snapshot copies the
/// table. A program that alternates registrations and messages would copy a large table each time. After a
/// change, messages therefore read the table under the lock until the number of reads justifies a copy.
final class RouteRegistry: Sendable {
    /// A number that increases with every change.
    let generation = Atomic<Int>(0)
    /// Whether no middleware intercepts messages.
    ///
    /// Each delivery reads this flag first, so that a bus without middlewares does not look for the chain.
    let isPlain = Atomic<Bool>(true)
    private let state: Locked<State>
    private let observers = Locked(Observers())

    /// The number of routes that one read under the lock justifies to copy.
    ///
    /// A table is copied when its reads, times this number, exceed its number of routes.
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

        /// Returns a snapshot of the current routes.
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

    /// Changes the routes and the connectors.
    ///
    /// Readers see either the whole change or no change.
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

    /// Calls a closure after each change of the routes or of the exposed patterns, on the thread that made
    /// the change.
    ///
    /// - Returns: A closure that ends the observation.
    func observe(_ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        let id = self.observers.withLock { observers in
            observers.count += 1
            observers.all[observers.count] = Observers.Observer(noteChange: body)
            return observers.count
        }
        return { [weak self] in
            // Release the observer outside the lock. The deinitializer of an object that the observer holds
            // may use the bus.
            _ = self?.observers.withLock { $0.all.removeValue(forKey: id) }
        }
    }

    /// Calls the closures that observe changes.
    func noteChange() {
        for observer in self.observers.withLock({ Array($0.all.values) }) { observer.noteChange() }
    }

    /// Changes the middlewares.
    ///
    /// Messages that are routed after the change pass through the new middlewares.
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
            // Release the old values outside the lock. The deinitializer of a middleware may use the bus.
            return (result: result, old: old)
        }
        return change.result
    }

    /// The current middlewares that intercept messages.
    ///
    /// Any thread may read this property.
    var chain: MiddlewareChain? {
        if self.isPlain.load(ordering: .acquiring) { return nil }
        return self.state.withLock { $0.chain }
    }

    /// All registered handlers: the handlers of every instance of each route, and of all connectors.
    var handlers: [Handler] {
        self.state.withLock { state in
            state.table.routes.flatMap { state.table.handler(for: $0.id)?.members ?? [] }
                + state.connections.all.map(\.handler)
        }
    }

    /// The current connectors.
    var connections: Connections { self.state.withLock { $0.connections } }

    /// The cluster that the bus has joined.
    var cluster: (any Cluster)? { self.state.withLock { $0.connections.cluster?.nodes } }

    /// Returns the target of a URL according to the current routes and connectors.
    ///
    /// Any thread may call this method.
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

    /// Returns whether and how a URL can be reached.
    ///
    /// Any thread may call this method.
    func reach(_ url: String) -> Reach {
        if let snapshot = self.snapshotIfWorthIt() { return snapshot.reach(url) }
        return self.state.withLock { $0.table.reach(url, $0.connections) }
    }

    /// Returns the address in a URL.
    ///
    /// - Throws: `invalidURL`.
    func address(of url: String) throws(RoutingError) -> Address {
        try self.withTable { table throws(RoutingError) in try table.address(of: url) }
    }

    /// Reads the current table.
    ///
    /// Any thread may call this method.
    func withTable<Result: Sendable>(
        _ body: (borrowing RouteTable<Target>) throws(RoutingError) -> Result
    ) throws(RoutingError) -> Result {
        if let snapshot = self.snapshotIfWorthIt() { return try snapshot.withTable(body) }
        return try self.state.withLock { state throws(RoutingError) in try body(state.table) }
    }

    /// Returns a snapshot of the current routes.
    ///
    /// Returns nil when the table has changed so recently that a copy of the table would cost more than a
    /// lookup under the lock.
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
