internal import Synchronization
internal import WaybillEventLoop

/// Runs a program in a simulated world, once for each seed, and fails with the shortest run that breaks it.
///
/// ```swift
/// @Test func `stock is never negative`() async throws {
///     let faults = Faults(delay: .upTo(.seconds(30)), failure: 0.01)
///     try await simulate(seeds: 1...1_000, faults: faults) { world in
///         let shop = try await world.node("shop") { bus in try await bus.install { Warehouse() } }
///         world.always("stock is never negative") { await shop.module(Warehouse.self).stock >= 0 }
///         try await world.clients(20) { client, random in
///             try await client.route("app://warehouse/take?count=\(random.int(in: 1...3))")
///         }
///     }
/// }
/// ```
///
/// The seed of a run determines the order in which tasks continue, the faults, and all random numbers. Its
/// time jumps to the next timer when nothing is left to run. On Linux, the clocks and random numbers of the
/// system follow the simulation too. A run that fails is repeated to prove that it is repeatable. Then every
/// choice that is not needed for the failure is removed.
///
/// The code of a world must stay in it: work that another thread enqueues, for example through Dispatch, and
/// work for the main actor, cannot be repeated and fail the run.
///
/// - Parameters:
///   - seeds: The seeds, each of which is one run.
///   - faults: The faults that each run injects; none by default.
///   - schedule: The way in which the next task is chosen; at random by default.
///   - limits: The limits of one run, and of the search for a shorter one.
///   - body: The program: it starts nodes, states conditions and runs clients.
/// - Throws: ``SimulationFailure`` for the first seed that fails.
public func simulate(
    seeds: some Sequence<UInt64> & Sendable,
    faults: Faults = .none,
    schedule: SimulationSchedule = .random,
    limits: SimulationLimits = SimulationLimits(),
    _ body: @escaping @Sendable (World) async throws -> Void
) async throws {
    let simulation = Simulation(faults: faults, schedule: schedule, limits: limits, body)
    for (count, seed) in seeds.enumerated() {
        try Task.checkCancellation()
        let run = await simulation.run(seed)
        if let cause = run.failure { throw await simulation.failure(of: run, seed: seed, cause: cause) }
        // The first passing seed and every hundredth one run again, to find code that cannot be repeated.
        if count.isMultiple(of: 100), let error = await simulation.difference(from: run, seed: seed) {
            throw error
        }
    }
}

/// Runs a program in a simulated world once more, as a failure has printed it.
///
/// - Parameters:
///   - seed: The seed of the run.
///   - decisions: The choices of the run that differ from their default, as text; nil to let the seed
///     choose.
///   - faults: The faults of the simulation that has failed.
///   - schedule: The schedule of the simulation that has failed; decisions replace it.
///   - limits: The limits of the run.
///   - body: The program.
/// - Throws: ``SimulationFailure`` if the run fails, and ``SimulationError`` for a text that is not the text
///   of decisions.
public func simulate(
    seed: UInt64,
    decisions: String? = nil,
    faults: Faults = .none,
    schedule: SimulationSchedule = .random,
    limits: SimulationLimits = SimulationLimits(),
    _ body: @escaping @Sendable (World) async throws -> Void
) async throws {
    let simulation = Simulation(faults: faults, schedule: schedule, limits: limits, body)
    let replayed = try decisions.map { text throws(SimulationError) in try Decisions.parse(text) }
    let run = await simulation.run(seed, decisions: replayed, isRecorded: true)
    if let cause = run.failure { throw simulation.report(run, seed: seed, cause: cause) }
}

/// Returns the hash of the run of a seed, which is equal in every process.
package func traceHash(
    seed: UInt64,
    faults: Faults,
    schedule: SimulationSchedule = .random,
    _ body: @escaping @Sendable (World) async throws -> Void
) async -> UInt64 {
    let simulation = Simulation(faults: faults, schedule: schedule, limits: SimulationLimits(), body)
    return await simulation.run(seed).trace.hash
}

/// The limits of a run, and of the search for a shorter run that fails in the same way.
public struct SimulationLimits: Sendable {
    /// The greatest number of pieces of work in one run; 1,000,000 by default.
    public var steps: Int

    /// The longest simulated time of one run; 30 days by default.
    public var time: Duration

    /// The longest real time of the search for a shorter run; 10 seconds by default.
    public var shrinking: Duration

    /// Creates limits.
    ///
    /// - Parameters:
    ///   - steps: The greatest number of pieces of work in one run.
    ///   - time: The longest simulated time of one run.
    ///   - shrinking: The longest real time of the search for a shorter run.
    public init(
        steps: Int = 1_000_000,
        time: Duration = .seconds(30 * 24 * 3600),
        shrinking: Duration = .seconds(10)
    ) {
        self.steps = steps
        self.time = time
        self.shrinking = shrinking
    }

    /// The expression that creates the limits of a run, for a person who repeats a failure; nil for the
    /// default limits.
    ///
    /// A run that is repeated is not made shorter, so the expression omits the limit of that search.
    var source: String? {
        let standard = Self()
        var arguments: [String] = []
        if self.steps != standard.steps { arguments.append("steps: \(self.steps)") }
        if self.time != standard.time { arguments.append("time: \(self.time.source)") }
        return arguments.isEmpty ? nil : "SimulationLimits(\(arguments.joined(separator: ", ")))"
    }
}

/// An error in the use of a simulation.
public enum SimulationError: Error, CustomStringConvertible {
    /// The text of decisions contains a part that no failure has printed.
    case invalidDecisions(String)

    /// A sentence for developers.
    public var description: String {
        switch self {
        case .invalidDecisions(let part):
            "\"\(part)\" is not a decision: copy the whole text of `decisions` from the failure"
        }
    }
}

/// A program and its faults, and the thread that runs its worlds.
struct Simulation: Sendable {
    /// A run that has ended.
    struct Run: Sendable {
        let failure: SimulationFailure.Cause?
        let decisions: [Decisions.Decision]
        let trace: RunTrace
        let messages: [RecordedEvent]
        let elapsed: Duration

        /// Returns a sentence about two runs with the same steps of which only one fails, or which fail for
        /// different reasons.
        fileprivate func difference(from other: Run) -> String? {
            switch (self.failure, other.failure) {
            case (nil, nil): nil
            case (let cause?, nil): "the first run failed (\(cause)) and the second passed"
            case (nil, let cause?): "the first run passed and the second failed (\(cause))"
            case (let cause?, let second?):
                cause.isSame(as: second)
                    ? nil : "the first run failed (\(cause)) and the second failed (\(second))"
            }
        }
    }

    private let faults: Faults
    private let schedule: SimulationSchedule
    private let limits: SimulationLimits
    private let body: @Sendable (World) async throws -> Void
    private let thread: EventLoop

    init(
        faults: Faults,
        schedule: SimulationSchedule,
        limits: SimulationLimits,
        _ body: @escaping @Sendable (World) async throws -> Void
    ) {
        self.faults = faults
        self.schedule = schedule
        self.limits = limits
        self.body = body
        let configuration = EventLoop.Configuration(watchdogThreshold: nil)
        self.thread = EventLoop(name: "simulation", configuration: configuration)
    }

    /// Runs the program once, with random choices if `decisions` is nil.
    func run(_ seed: UInt64, decisions: [Decisions.Decision]? = nil, isRecorded: Bool = false) async -> Run {
        let random = SimulationRandom(seed: seed)
        let simulator = await self.onThread {
            Simulator(
                seed: seed,
                decisions: decisions.map { Decisions(replaying: $0) }
                    ?? Decisions(seed: random.derived(-1).next()),
                faults: self.faults,
                schedule: self.schedule,
                limits: self.limits,
                isRecorded: isRecorded
            )
        }
        let body = self.body
        // The task is created here to inherit the task-local values of the test, and runs on the world's
        // loop.
        Task(executorPreference: simulator.executor) {
            do {
                try await body(World(simulator, random: random))
            } catch {
                simulator.fail(.programThrew("\(error)"))
            }
            simulator.endBody()
        }
        return await self.onThread {
            let failure = simulator.simulating { simulator.run() }
            defer { simulator.simulating { simulator.end() } }
            return Run(
                failure: failure,
                decisions: simulator.decisionsMade,
                trace: simulator.trace,
                messages: simulator.messages,
                elapsed: simulator.elapsed
            )
        }
    }

    private func onThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { waiter in
            self.thread.execute { waiter.resume(returning: body()) }
        }
    }
}

// Failures.
extension Simulation {
    /// Repeats a run that has failed, removes choices that are not needed, and returns the failure.
    func failure(of run: Run, seed: UInt64, cause: SimulationFailure.Cause) async -> any Error {
        if let error = await self.difference(from: run, seed: seed) { return error }
        let shortest = await self.shrink(run, seed: seed, cause: cause)
        let recorded = await self.run(seed, decisions: shortest, isRecorded: true)
        // Another thread may enqueue its work too early or too late for the repetition to notice it.
        if case .escape = cause, recorded.failure == nil { return self.report(run, seed: seed, cause: cause) }
        // The shortest run fails in the same way; its details, such as an error's text, may differ.
        return self.report(
            recorded,
            seed: seed,
            cause: recorded.failure ?? .notRepeatable("one run failed (\(cause)) and a repetition passed")
        )
    }

    func report(_ run: Run, seed: UInt64, cause: SimulationFailure.Cause) -> SimulationFailure {
        SimulationFailure(
            seed: seed,
            cause: cause,
            decisions: Decisions.text(of: run.decisions),
            elapsed: run.elapsed,
            faults: self.faults,
            limits: self.limits,
            diagram: MessageDiagram(run.messages)
        )
    }

    /// Repeats a run by its seed, and returns a failure if the two differ.
    func difference(from run: Run, seed: UInt64) async -> SimulationFailure? {
        if case .escape = run.failure { return nil }
        let second = await self.run(seed)
        if let cause = second.failure, case .escape = cause {
            return self.report(second, seed: seed, cause: cause)
        }
        guard let difference = run.trace.difference(from: second.trace) ?? run.difference(from: second)
        else { return nil }
        return self.report(second, seed: seed, cause: .notRepeatable(difference))
    }

    /// Removes choices while the run still fails for the same cause.
    ///
    /// All choices of each kind are removed first. Then halves, quarters and smaller parts are removed in
    /// turn (delta debugging, Zeller 1999).
    private func shrink(
        _ run: Run,
        seed: UInt64,
        cause: SimulationFailure.Cause
    ) async -> [Decisions.Decision] {
        let limit = ContinuousClock.now + self.limits.shrinking
        var shortest = run.decisions
        /// Adopts a shorter run if it fails in the same way.
        func adopt(_ candidate: [Decisions.Decision]) async -> Bool {
            guard candidate.count < shortest.count, ContinuousClock.now < limit else { return false }
            let attempt = await self.run(seed, decisions: candidate)
            // Choices that the shorter run no longer makes are gone as well.
            guard attempt.failure?.isSame(as: cause) == true, attempt.decisions.count < shortest.count
            else { return false }
            shortest = attempt.decisions
            return true
        }
        for kind in Decisions.Kind.allCases { _ = await adopt(shortest.filter { $0.position.kind != kind }) }
        var size = max(1, shortest.count / 2)
        while !shortest.isEmpty, ContinuousClock.now < limit {
            var hasShrunk = false
            var start = 0
            while start < shortest.count {
                var candidate = shortest
                candidate.removeSubrange(start..<min(start + size, shortest.count))
                if await adopt(candidate) { hasShrunk = true } else { start += size }
            }
            if size == 1, !hasShrunk { break }
            size = max(1, size / 2)
        }
        return shortest
    }
}
