#if Macros
import Foundation
import PlantedBugs
import Synchronization
import Testing
import Waybill
import WaybillEventLoop
import WaybillSimulation
import WaybillTestSupport

extension PlantedBug: CustomTestStringConvertible {
    /// The name of the bug, for the log of the tests.
    public var testDescription: String { self.name }
}

private func overdraw(_ world: World) async throws {
    let node = try await world.node("shop") { bus in try await bus.install { Stock() } }
    world.always("the stock is never negative") { await node.module(Stock.self).count >= 0 }
    try await world.clients(4) { client, _ in
        for _ in 0..<3 { try await client.route("app://stock/take") }
    }
}

@Suite(.skippedByLeakChecks, .timeLimit(.minutes(5)))
struct SimulateTests {
    @Test(arguments: PlantedBug.all)
    func `each planted bug is found within 1,000 seeds, and its ordinary test passes`(
        _ bug: PlantedBug
    ) async throws {
        #expect(try await bug.ordinaryTest(MessageBus()))
        let failure = try await failure(seeds: 1...1_000, faults: bug.faults, bug.program)
        #expect(failure.decisions.split(separator: " ").count <= 15)
    }

    @Test(arguments: PlantedBug.all)
    func `a planted bug is found with priorities in 1,000 seeds`(_ bug: PlantedBug) async throws {
        let failure = try await failure(
            seeds: 1...1_000,
            faults: bug.faults,
            schedule: .pct(depth: 3),
            bug.program
        )
        // The decisions repeat the failure without the schedule.
        await #expect(throws: SimulationFailure.self) {
            try await simulate(
                seed: failure.seed,
                decisions: failure.decisions,
                faults: bug.faults,
                bug.program
            )
        }
    }

    @Test func `a task that polls does not run for ever before the task that it waits for`() async throws {
        try await simulate(seeds: 1...50, schedule: .pct(depth: 1)) { _ in
            let ends = Tally()
            await withTaskGroup { group in
                group.addTask {
                    while ends.count == 0 { await Task.yield() }
                }
                group.addTask {
                    await Task.yield()
                    ends.add()
                }
            }
        }
    }

    @Test func `a simulation failure names the invariant and the messages, and can be repeated`() async throws
    {
        let first = try await failure(overdraw)
        #expect(first.reason == "The invariant \"the stock is never negative\" does not hold")
        #expect(first.description.contains("app://stock/take"))
        #expect(first.mermaid.hasPrefix("sequenceDiagram\n"))
        let line = "simulate(seed: \(first.seed), decisions: \"\(first.decisions)\")"
        #expect(first.description.hasSuffix(line))
        let second = try #require(
            await #expect(throws: SimulationFailure.self) {
                try await simulate(seed: first.seed, decisions: first.decisions, overdraw)
            }
        )
        #expect(second.reason == first.reason)
        #expect(second.elapsed == first.elapsed)
    }

    @Test func `the first seed that passes runs twice, to find code that cannot be repeated`() async throws {
        let first = Journal<Int>()
        try await simulate(seeds: 5...7) { world in first.add(world.random.int(in: 0...1_000_000)) }
        #expect(first.entries.count == 4 && first.entries[0] == first.entries[1])
    }

    @Test func `a simulation failure prints its faults as source`() async throws {
        let texts: [(Faults, String)] = [
            (.none, ""),
            (Faults(delay: .upTo(.seconds(30))), ", faults: Faults(delay: .upTo(.seconds(30)))"),
            (
                Faults(delay: .upTo(.milliseconds(1_500), odds: 0.5), failure: 0.01, duplication: 0.2),
                ", faults: Faults(delay: .upTo(.milliseconds(1500), odds: 0.5), failure: 0.01, "
                    + "duplication: 0.2)"
            ),
            (
                Faults(cancellation: 0.5, crash: .perHour(2), powerLoss: .perHour(0.5)),
                ", faults: Faults(cancellation: 0.5, crash: .perHour(2.0), powerLoss: .perHour(0.5))"
            ),
        ]
        for (faults, text) in texts {
            let failure = try await failure(faults: faults) { world in world.eventually("x") { false } }
            #expect(failure.description.hasSuffix("decisions: \"\"\(text))"))
        }
    }

    @Test func `a correct program passes its simulation with every fault`() async throws {
        let faults = Faults(
            delay: .upTo(.seconds(30)),
            failure: 0.05,
            cancellation: 0.05,
            crash: .perHour(20)
        )
        let shown = Atomic(0)
        try await simulate(seeds: 1...200, faults: faults) { world in
            let node = try await world.node("shop") { bus in try await bus.install { Stock() } }
            world.eventually("no message is left") { await node.isQuiet }
            try await world.clients(5) { client, _ in
                for _ in 0..<5 where (try? await client.route("app://stock/show", as: Int.self)) != nil {
                    shown.add(1, ordering: .relaxed)
                }
            }
        }
        #expect(shown.load(ordering: .relaxed) > 2_500)
    }

    @Test func `the simulated time advances by the program's waits without waiting`() async throws {
        let start = ContinuousClock.now
        try await simulate(seeds: 1...10) { world in
            let node = try await world.node("shop") { bus in
                try bus.register("app://slow") { _ async throws in try await Task.sleep(for: .seconds(3600)) }
                try bus.register("app://timer") { message async throws in
                    try await bus.eventLoop.clock.sleep(for: .seconds(3600))
                }
            }
            try await world.clients(1) { client, _ in
                try await client.route("app://slow")
                try await client.route("app://timer")
                await #expect(throws: RoutingError.self) {
                    try await client.route("app://slow", timeout: .seconds(60))
                }
            }
            #expect(node.isRunning)
            #expect(world.elapsed == .seconds(2 * 3600 + 60))
        }
        #expect(ContinuousClock.now - start < Scale.whileQuick * 100)
    }

    @Test func `a seed makes the same simulation run each time`() async throws {
        let traces = Mutex<[UInt64: [Duration]]>([:])
        for _ in 0..<2 {
            try await simulate(seeds: 1...100, faults: Faults(delay: .upTo(.seconds(30)))) { world in
                _ = try await world.node("shop") { bus in try await bus.install { Stock() } }
                try await world.clients(3) { client, random in
                    let key = random.next()
                    try await client.route("app://stock/take")
                    traces.withLock { $0[key, default: []].append(world.elapsed) }
                }
            }
        }
        let times = traces.withLock { $0 }
        #expect(times.count == 300)
        // In each simulation every hundredth seed runs twice.
        #expect(times.values.allSatisfy { ($0.count == 2 || $0.count == 4) && Set($0).count == 1 })
        #expect(Set(times.values.map { $0[0] }).count > 10)
    }

    @Test func `tasks that wait for one another fail the simulation`() async throws {
        let failure = try await failure { world in
            let node = try await world.node("shop") { bus in
                try bus.register("app://never") { _ async in
                    unsafe await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
                }
            }
            #expect(node.name == "shop")
            try await world.clients(1) { client, _ in try await client.route("app://never") }
        }
        #expect(failure.reason.hasPrefix("Nothing can happen any more"))
    }

    @Test func `an endless run ends with a failure at its limits`() async throws {
        var limits = SimulationLimits()
        limits.steps = 1_000
        let busy = try await failure(limits: limits) { _ in while true { await Task.yield() } }
        #expect(busy.reason.hasPrefix("The program has not ended after 1000 pieces of work"))
        #expect(busy.description.hasSuffix(", limits: SimulationLimits(steps: 1000))"))
        limits = SimulationLimits(time: .seconds(3600))
        let slow = try await failure(limits: limits) { _ in
            while true { try await Task.sleep(for: .seconds(60)) }
        }
        #expect(slow.reason.hasPrefix("The program has not ended after 3600.0 seconds"))
        #expect(slow.description.hasSuffix(", limits: SimulationLimits(time: .seconds(3600)))"))
    }

    @Test func `an error thrown by the program or by a check fails the simulation`() async throws {
        struct Broken: Error {}
        let program = try await failure { _ in throw Broken() }
        #expect(program.reason == "The program of the simulation threw an error: Broken()")
        let check = try await failure { world in world.eventually("it works") { throw Broken() } }
        #expect(check.reason == "The check \"it works\" threw an error: Broken()")
        let unmet = try await failure { world in world.eventually("it works") { false } }
        #expect(unmet.reason.hasPrefix("The condition \"it works\" does not hold"))
    }

    @Test func `a text that does not describe decisions is rejected`() async throws {
        for text in ["x", "o1", "o1=", "o=1", "1=2", "o1=0", "o-1=2", "o1=2=3", "o1=2 x", "x1=2"] {
            await #expect(throws: SimulationError.self) {
                try await simulate(seed: 1, decisions: text) { _ in }
            }
        }
        try await simulate(seed: 1, decisions: "") { _ in }
    }
}
#endif
