internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

/// The routes of a bus, and how its loops see them without a lock.
///
/// The table is a value behind a lock. A loop reads a ``Snapshot`` of it, which nobody changes, and looks at
/// ``generation`` to see whether there is a newer one. The first change after a snapshot copies the table; so that a
/// program that registers and routes in turn does not copy a large table each time, a changed table is read under the
/// lock until it has been read often enough to be worth a copy.
final class Directory: Sendable {
    /// Goes up with every change.
    let generation = Atomic<Int>(0)
    /// Whether no middleware surrounds deliveries.
    private let isPlain = Atomic<Bool>(true)
    private let state: Locked<State>

    /// A large table is copied when it has been read once for this many routes in it.
    private static let routesPerRead = 256

    private struct State {
        var table: RouteTable<Handler>
        var surroundings = Surroundings()
        var chain: Chain?
        var snapshot: Snapshot?
        var reads = 0
    }

    init(table: RouteTable<Handler>) {
        self.state = Locked(State(table: table))
    }

    /// Changes the table; nobody sees it half changed.
    func change<Result: Sendable>(
        _ body: (inout RouteTable<Handler>) throws(RoutingError) -> Result
    ) throws(RoutingError) -> Result {
        try self.state.withLock { state throws(RoutingError) in
            state.snapshot = nil
            state.reads = 0
            defer { self.generation.add(1, ordering: .releasing) }
            return try body(&state.table)
        }
    }

    /// Changes the middlewares; messages that are routed afterwards meet the new ones.
    func surround<Result: Sendable>(_ body: (inout Surroundings) -> Result) -> Result {
        let change = self.state.withLock { state in
            let old = (state.surroundings, state.chain, state.snapshot)
            let result = body(&state.surroundings)
            state.chain = state.surroundings.chain
            self.isPlain.store(state.chain == nil, ordering: .releasing)
            if state.snapshot != nil {
                state.snapshot = Snapshot(
                    table: state.table,
                    generation: self.generation.load(ordering: .relaxed) + 1,
                    chain: state.chain
                )
            }
            self.generation.add(1, ordering: .releasing)
            // Let go of outside the lock: a middleware that nobody holds any more may use the bus.
            return (result: result, old: old)
        }
        return change.result
    }

    /// The middlewares around deliveries, as they are now, from any thread.
    var chain: Chain? {
        if self.isPlain.load(ordering: .acquiring) { return nil }
        return self.state.withLock { $0.chain }
    }

    /// Every handler that is registered.
    var handlers: [Handler] {
        self.state.withLock { state in state.table.routes.compactMap { state.table.handler(for: $0.id) } }
    }

    /// Reads the table as it is now, from any thread.
    func read<Result: Sendable>(
        _ body: (borrowing RouteTable<Handler>) throws(RoutingError) -> Result
    ) throws(RoutingError) -> Result {
        if let snapshot = self.snapshotIfWorthIt() { return try snapshot.read(body) }
        return try self.state.withLock { state throws(RoutingError) in try body(state.table) }
    }

    /// The table as it is now, unless it has changed so recently that a copy costs more than the lock.
    func snapshotIfWorthIt() -> Snapshot? {
        self.state.withLock { state in
            if let snapshot = state.snapshot { return snapshot }
            state.reads += 1
            guard state.reads * Self.routesPerRead > state.table.count else { return nil }
            let snapshot = Snapshot(
                table: state.table,
                generation: self.generation.load(ordering: .relaxed),
                chain: state.chain
            )
            state.snapshot = snapshot
            return snapshot
        }
    }
}
