#if Macros
import Synchronization
import Testing
import Waybill
import WaybillSimulation
import WaybillTestSupport

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

    @Test func `values between simulated nodes are encoded as in a cluster`() async throws {
        struct Parcel: Codable, Equatable { let weight: Int }
        struct Secret: Sendable {}
        try await simulate(seeds: 1...10) { world in
            _ = try await world.node("shop") { bus in
                try bus.register("app://weigh") { message -> Parcel in
                    let parcel: Parcel = try message.argument("parcel")
                    return Parcel(weight: parcel.weight + 1)
                }
                try bus.register("app://secret") { _ in Secret() }
            }
            try await world.clients(1) { client, _ in
                let parcel: Parcel = try await client.route(
                    "app://weigh",
                    parameters: ["parcel": Parcel(weight: 1)]
                )
                #expect(parcel == Parcel(weight: 2))
                for parameters in [
                    ["parcel": Secret()], ["parcel": { @Sendable in } as @Sendable () -> Void],
                ]
                    as [[String: any Sendable]]
                {
                    let error = await #expect(throws: RoutingError.self) {
                        try await client.route("app://weigh", parameters: parameters)
                    }
                    #expect(error?.code == .notTransferable)
                }
                let error = await #expect(throws: RoutingError.self) {
                    try await client.route("app://secret")
                }
                #expect(error?.code == .notTransferable)
            }
        }
    }

    @Test func `a simulated message between nodes has its origin, and its value reaches a return URL once`()
        async throws
    {
        try await simulate(seeds: 1...20) { world in
            let seen = Mutex<[String]>([])
            let add: @Sendable (String, Message) throws -> Void = { name, message in
                let isAnswer = message.correlationID != nil
                let text = "\(name): \(try message.payload(as: Int.self)), answers: \(isAnswer)"
                seen.withLock { $0.append(text) }
            }
            _ = try await world.node("orders") { bus in
                try bus.register("app://order/pay") { message in
                    let origin = "\(message.origin.transport ?? "") \(message.origin.peer ?? "")"
                    seen.withLock { $0.append("\(origin), hops: \(message.hops)") }
                    return 42
                }
                try bus.register("app://order/paid") { try add("order", $0) }
            }
            _ = try await world.node("receipts") { bus in
                try bus.register("app://receipt/take") { try add("receipt", $0) }
            }
            _ = try await world.node("shop") { bus in
                try bus.register("app://own/take") { try add("own", $0) }
                try bus.register("app://buy") { _ async throws in
                    for url in ["app://own/take", "app://receipt/take", "app://order/paid"] {
                        #expect(try await bus.route("app://order/pay#\(url)", as: Int.self) == 42)
                    }
                }
            }
            try await world.clients(1) { client, _ in
                try await client.route("app://buy")
                // A second delivery of a value would arrive in this time.
                try await Task.sleep(for: .seconds(60))
            }
            let values = ["order", "own", "receipt"].map { "\($0): 42, answers: true" }
            let origins = Array(repeating: "simulation shop, hops: 3", count: 3)
            #expect(seen.withLock { $0.sorted() } == values + origins)
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

    @Test func `a condition that holds only after its limit fails, and one that holds in time does not`()
        async throws
    {
        var limits = SimulationLimits()
        limits.time = .seconds(10_000_000_000)
        for (limit, holds) in [(Duration.seconds(60), false), (.seconds(7_000), true)] {
            let run = { [limits] in
                try await simulate(seed: 1, limits: limits) { world in
                    let start = ContinuousClock.now
                    // The only timer rings later than both limits.
                    _ = try await world.node("shop") { _ in
                        Task { try await Task.sleep(for: .seconds(7_200)) }
                    }
                    world.eventually("the condition holds", within: limit) {
                        ContinuousClock.now - start >= .seconds(7_000)
                    }
                }
            }
            if holds {
                try await run()
            } else {
                await #expect(throws: SimulationFailure.self) { try await run() }
            }
        }
    }

    @Test func `each of several conditions has its own limit`() async throws {
        await #expect(throws: SimulationFailure.self) {
            try await simulate(seed: 1) { world in
                let start = ContinuousClock.now
                _ = try await world.node("shop") { _ in
                    Task { for _ in 0..<100 { try await Task.sleep(for: .seconds(10)) } }
                }
                world.eventually("the first condition", within: .seconds(700)) {
                    ContinuousClock.now - start >= .seconds(500)
                }
                world.eventually("the second condition", within: .seconds(60)) {
                    ContinuousClock.now - start >= .seconds(100)
                }
            }
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
        // The first seed runs twice.
        #expect(replied + failed == 51 * 15)
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

    @Test func `an invariant reads the module that was installed last`() async throws {
        let failure = try await failure(seeds: 1...1) { world in
            let node = try await world.node("shop") { bus in try await bus.install { Stock() } }
            world.always("the stock is never negative") { await node.module(Stock.self).count >= 0 }
            node.contents.cancel()
            try await node.bus.install { Stock() }
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

    @Test func `a cancelled caller fails with cancelled, and its handler is cancelled while it runs`()
        async throws
    {
        let codes = Journal<RoutingError.Code>()
        let cancelled = Tally()
        try await simulate(seeds: 1...20, faults: Faults(cancellation: 1)) { world in
            _ = try await world.node("far") { bus in
                try bus.register("app://far/slow") { _ async throws in
                    do {
                        try await Task.sleep(for: .seconds(60))
                    } catch {
                        cancelled.add()
                    }
                }
            }
            try await world.clients(1) { client, _ in
                let error = await failure { try await client.route("app://far/slow") }
                if let error { codes.add(error.code) }
            }
        }
        #expect(codes.entries.count > 20 && codes.entries.allSatisfy { $0 == .cancelled })
        #expect(cancelled.count > 0)
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
