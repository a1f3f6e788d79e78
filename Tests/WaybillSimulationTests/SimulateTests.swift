#if Macros
import Dispatch
import Foundation
import PlantedBugs
import Synchronization
import Testing
import Waybill
import WaybillEventLoop
import WaybillSimulation
import WaybillTestSupport

/// A module with a defect that appears in some orders of its messages.
@Module("app://stock")
private actor Stock {
    private(set) var count = 5

    @Route func take() async throws {
        guard self.count > 0 else { return }
        try await Task.sleep(for: .milliseconds(5))
        self.count -= 1
    }

    @Route func show() async -> Int {
        await Task.yield()
        return self.count
    }
}

extension PlantedBug: CustomTestStringConvertible {
    /// The name of the bug, for the log of the tests.
    public var testDescription: String { self.name }
}

/// Runs a simulation that must fail, and returns the failure.
private func failure(
    seeds: ClosedRange<UInt64> = 1...100,
    faults: Faults = .none,
    schedule: SimulationSchedule = .random,
    limits: SimulationLimits = SimulationLimits(),
    _ body: @escaping @Sendable (World) async throws -> Void
) async throws -> SimulationFailure {
    try #require(
        await #expect(throws: SimulationFailure.self) {
            try await simulate(seeds: seeds, faults: faults, schedule: schedule, limits: limits, body)
        }
    )
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
        limits = SimulationLimits()
        limits.time = .seconds(3600)
        let slow = try await failure(limits: limits) { _ in
            while true { try await Task.sleep(for: .seconds(60)) }
        }
        #expect(slow.reason.hasPrefix("The program has not ended after 3600.0 seconds"))
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

@Suite(.skippedByLeakChecks, .timeLimit(.minutes(5)))
struct EscapeTests {
    @Test func `work for the main actor fails the simulation`() async throws {
        let failure = try await failure { _ in await Task { @MainActor in }.value }
        #expect(failure.reason.hasPrefix("Another thread enqueued work in the simulation"))
    }

    @Test func `work that another thread enqueues fails the simulation`() async throws {
        let failure = try await failure { _ in
            await withCheckedContinuation { waiter in
                DispatchQueue.global().async { waiter.resume() }
            }
        }
        #expect(failure.reason.hasPrefix("Another thread enqueued work in the simulation"))
    }

    @Test func `a simulation of code that remembers earlier runs fails as not repeatable`() async throws {
        let runs = Atomic(0)
        let failure = try await failure { world in
            for _ in 0..<runs.add(1, ordering: .relaxed).newValue {
                try await Task.sleep(for: .milliseconds(1))
            }
            world.eventually("it fails") { false }
        }
        #expect(failure.reason.hasPrefix("Two runs of the same seed differ"))
    }

    @Test func `the clocks and random numbers of a simulated program follow the seed`() async throws {
        let values = Mutex<[[String]]>([])
        for seed in [1, 1, 2] as [UInt64] {
            try await simulate(seed: seed) { world in
                var seen = ["\(UInt64.random(in: 0 ... .max))", "\([1, 2, 3, 4, 5, 6, 7, 8].shuffled())"]
                try await Task.sleep(for: .seconds(60))
                seen += [
                    "\(ContinuousClock.now)", "\(SuspendingClock.now)", "\(Date().timeIntervalSince1970)",
                ]
                values.withLock { [seen] in $0.append(seen) }
                #expect(world.elapsed == .seconds(60))
            }
        }
        let runs = values.withLock { $0 }
        #expect(runs[0] == runs[1])
        #expect(runs[0][0] != runs[2][0])
        #expect(runs[0].last == "1767226660.0")
        #expect(Date().timeIntervalSince1970 != 1_767_226_660)
    }

    @Test func `detached tasks, task groups and plain actors are simulated too`() async throws {
        actor Plain {
            var count = 0
            func add() { self.count += 1 }
        }
        try await simulate(seeds: 1...50) { _ in
            let plain = Plain()
            await withTaskGroup { group in
                for _ in 0..<10 { group.addTask { await plain.add() } }
            }
            await Task.detached { await plain.add() }.value
            async let last: Void = plain.add()
            await last
            await #expect(plain.count == 12)
        }
    }
}

@Suite(.skippedByLeakChecks, .timeLimit(.minutes(5)))
struct NodeTests {
    @Test func `simulated nodes call one another, and publications reach all of them`() async throws {
        try await simulate(seeds: 1...50) { world in
            let heard = Mutex<[String]>([])
            for name in ["a", "b"] {
                _ = try await world.node(name) { bus in
                    try bus.register("app://\(name)/ask") { _ in name }
                    try bus.register("app://\(name)/forward") { _ async throws -> String in
                        try await bus.route(name == "a" ? "app://b/ask" : "app://a/ask")
                    }
                    try bus.subscribe("app://news") { _ in heard.withLock { $0.append(name) } }
                }
            }
            try await world.clients(1) { client, _ in
                #expect(try await client.route("app://a/forward", as: String.self) == "b")
                #expect(try await client.route("app://b/forward", as: String.self) == "a")
                let error = await #expect(throws: RoutingError.self) { try await client.route("app://c/ask") }
                #expect(error?.code == .noRoute)
                try await client.publish("app://news")
            }
            world.eventually("both nodes hear the news") { heard.withLock { $0.sorted() } == ["a", "b"] }
        }
    }

    @Test func `a crash ends a node's tasks, fails its callers and starts the node again`() async throws {
        try await simulate(seeds: 1...50) { world in
            let starts = Mutex(0)
            let finished = Mutex(0)
            let node = try await world.node("shop") { bus in
                starts.withLock { $0 += 1 }
                try bus.register("app://slow") { _ async throws in
                    try await Task.sleep(for: .seconds(1))
                    finished.withLock { $0 += 1 }
                }
            }
            try await world.clients(2) { client, random in
                try await Task.sleep(for: random.duration(in: .zero ... .milliseconds(10)))
                let call = Task { try await client.route("app://slow") }
                try await Task.sleep(for: .milliseconds(100))
                node.crash()
                await #expect(throws: RoutingError.self) { try await call.value }
                try await Task.sleep(for: .seconds(20))
                #expect(node.isRunning)
                try await client.route("app://slow")
            }
            #expect(starts.withLock { $0 } >= 2)
            #expect(finished.withLock { $0 } == 2)
        }
    }

    @Test func `the end of a connection fails the caller and cancels the handler, and the node runs on`()
        async throws
    {
        try await simulate(seeds: 1...50) { world in
            let starts = Mutex(0)
            let cancelled = Mutex(0)
            let node = try await world.node("shop") { bus in
                starts.withLock { $0 += 1 }
                try bus.register("app://slow") { _ async throws in
                    do {
                        try await Task.sleep(for: .seconds(1))
                    } catch {
                        cancelled.withLock { $0 += 1 }
                        throw error
                    }
                }
            }
            try await world.clients(1) { client, _ in
                let call = Task { try await client.route("app://slow") }
                try await Task.sleep(for: .milliseconds(100))
                node.disconnect()
                let error = await #expect(throws: RoutingError.self) { try await call.value }
                #expect(error?.rootCause.code == .unreachable)
                try await client.route("app://slow")
            }
            #expect(starts.withLock { $0 } == 1)
            #expect(cancelled.withLock { $0 } == 1)
        }
    }

    @Test func `connections end at random, and each call has an outcome`() async throws {
        let outcomes = Mutex((replied: 0, failed: 0))
        try await simulate(seeds: 1...50, faults: Faults(disconnection: .perHour(600))) { world in
            _ = try await world.node("shop") { bus in
                try bus.register("app://slow") { _ async throws in try await Task.sleep(for: .seconds(1)) }
            }
            try await world.clients(3) { client, _ in
                for _ in 0..<5 {
                    do {
                        try await client.route("app://slow")
                        outcomes.withLock { $0.replied += 1 }
                    } catch {
                        #expect((error as? RoutingError)?.rootCause.code == .unreachable)
                        outcomes.withLock { $0.failed += 1 }
                    }
                }
            }
        }
        let (replied, failed) = outcomes.withLock { $0 }
        #expect(replied + failed == 750)
        #expect(replied > 100)
        #expect(failed > 20)
    }

    @Test func `invariants are checked again when a node has restarted`() async throws {
        let failure = try await failure(seeds: 1...1) { world in
            let node = try await world.node("shop") { bus in try await bus.install { Stock() } }
            world.always("the stock is never negative") { await node.module(Stock.self).count >= 0 }
            node.crash()
            try await Task.sleep(for: .seconds(20))
            try await world.clients(8) { client, _ in try await client.route("app://stock/take") }
        }
        #expect(failure.reason == "The invariant \"the stock is never negative\" does not hold")
    }

    @Test func `a crash ends the start code of a node, which runs again`() async throws {
        try await simulate(seeds: 1...50) { world in
            let starts = Tally()
            let ends = Tally()
            let started = try await world.node("shop") { _ in
                starts.add()
                // The second start takes long enough for a crash.
                if starts.count == 2 { try await Task.sleep(for: .seconds(60)) }
                ends.add()
            }
            started.crash()
            while starts.count < 2 { try await Task.sleep(for: .seconds(1)) }
            started.crash()
            try await Task.sleep(for: .seconds(120))
            #expect(started.isRunning)
            #expect(starts.count == 3)
            #expect(ends.count == 2)
        }
    }

    @Test func `a retry repeats a request to another node whose reply was lost`() async throws {
        let repeated = Tally()
        try await simulate(seeds: 1...50, faults: Faults(failure: 0.3)) { world in
            let (retried, others) = (Tally(), Tally())
            _ = try await world.node("shop") { bus in
                try bus.register("app://shop/price") { _ in retried.add() }
                try bus.register("app://shop/buy") { _ in others.add() }
            }
            let caller = try await world.node("caller") { bus in
                bus.use(try RetryMiddleware(idempotent: ["app://shop/price"]))
            }
            for url in ["app://shop/price", "app://shop/buy"] { _ = try? await caller.bus.route(url) }
            if retried.count > 1 { repeated.add() }
            #expect(others.count <= 1)
        }
        #expect(repeated.count > 0)
    }
}
#endif
