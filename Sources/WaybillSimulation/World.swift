internal import Synchronization
public import Waybill
internal import WaybillEventLoop

/// A simulated world: nodes with their modules, clients that call them, and the conditions that must hold.
///
/// ``simulate(seeds:faults:schedule:limits:_:)`` creates a world for each run. Everything in a world runs on
/// one thread, and its time passes only when nothing is left to run.
public final class World: Sendable {
    let simulator: Simulator
    /// The random numbers of the world, for values that a program chooses itself.
    public let random: SimulationRandom
    let network: Network
    private let nextClient = Atomic<Int>(0)

    init(_ simulator: Simulator, random: SimulationRandom) {
        self.simulator = simulator
        self.random = random
        self.network = Network(simulator)
    }

    /// The simulated time since the run began.
    public var elapsed: Duration { self.simulator.elapsed }

    /// Starts a node: a bus on separate loops, as in a separate process.
    ///
    /// A message that no route of a node handles goes to a node that has a route for it. When a crash ends
    /// the node, its tasks stop where they are, callers on other nodes fail with `unreachable`, and `start`
    /// runs again with a new bus up to ten seconds later. The files of durable stores that `start` opens
    /// stay.
    ///
    /// - Parameters:
    ///   - name: The name of the node, for diagrams and errors.
    ///   - eventLoops: The number of the bus's loops, at least one.
    ///   - start: Installs the modules of the node, and returns what the simulation needs of them.
    /// - Returns: The node, which runs.
    /// - Throws: The error of `start`.
    public func node<Contents: Sendable>(
        _ name: String,
        eventLoops: Int = 1,
        _ start: @escaping @Sendable (MessageBus) async throws -> Contents
    ) async throws -> SimulatedNode<Contents> {
        let node = SimulatedNode(name, eventLoops: eventLoops, in: self.network, start)
        try await node.start()
        return node
    }

    /// Starts a node that does not reach the other nodes of the world, because it joins another cluster.
    package func separateNode<Contents: Sendable>(
        _ name: String,
        _ start: @escaping @Sendable (MessageBus) async throws -> Contents
    ) async throws -> SimulatedNode<Contents> {
        let node = SimulatedNode(name, eventLoops: 1, isSeparate: true, in: self.network, start)
        try await node.start()
        return node
    }

    /// Runs clients at the same time, and waits until all have ended.
    ///
    /// The clients share a bus in a process that never crashes. A client whose code throws a `RoutingError`
    /// ends, because faults cause such errors. Any other error fails the simulation.
    ///
    /// - Parameters:
    ///   - count: The number of clients.
    ///   - body: The code of a client. Its arguments are the bus, and random numbers of the client's own.
    /// - Throws: The first error that is no `RoutingError`.
    public func clients(
        _ count: Int,
        _ body: @escaping @Sendable (MessageBus, SimulationRandom) async throws -> Void
    ) async throws {
        let bus = try self.network.clientBus()
        try await withThrowingTaskGroup { group in
            for _ in 0..<count {
                let random = self.random.derived(self.nextClient.add(1, ordering: .relaxed).newValue)
                group.addTask {
                    do {
                        try await body(bus, random)
                    } catch is RoutingError {}
                }
            }
            try await group.waitForAll()
        }
    }

    /// Requires a condition after every piece of work of a node, and at the end of the run.
    ///
    /// The check sees the modules between two pieces of their work: at the beginning and end of a handler,
    /// and wherever a handler awaits. It is skipped while a node is down.
    ///
    /// - Parameters:
    ///   - name: The name of the condition, which the failure prints.
    ///   - check: A closure that returns whether the condition holds. The closure may read actors, and must
    ///     change nothing.
    public func always(_ name: String, _ check: @escaping @Sendable () async throws -> Bool) {
        self.simulator.addInvariant(name, check)
    }

    /// Requires a condition in the end: when the program of the simulation has ended and nothing is left to
    /// run.
    ///
    /// - Parameters:
    ///   - name: The name of the condition, which the failure prints.
    ///   - limit: The simulated time that may pass until it holds, after the program has ended.
    ///   - check: A closure that returns whether the condition holds. The closure may read actors, and must
    ///     change nothing.
    public func eventually(
        _ name: String,
        within limit: Duration = .seconds(3600),
        _ check: @escaping @Sendable () async throws -> Bool
    ) {
        self.simulator.addExpectation(name, within: limit, check)
    }
}
