#if Macros
import Synchronization
import Testing
import Waybill
import WaybillEventLoop
import WaybillSimulation
import WaybillTestSupport

#if Durable
import WaybillDurable
#endif

/// The world of a simulation: the ends of its nodes, the order of messages between them, and its checks.
@Suite(.skippedByLeakChecks, .timeLimit(.minutes(5)))
struct WorldTests {
    /// An actor that uses neither a bus nor a loop, as an external system would.
    private actor Database {
        private(set) var rows = 0

        func insert() { self.rows += 1 }
    }

    @Test func `an actor outside of a node runs on after the node has crashed`() async throws {
        try await simulate(seeds: 1...100) { world in
            let database = Database()
            let node = try await world.node("shop") { bus in
                try bus.register("app://fill") { _ async in
                    for _ in 0..<10 {
                        await database.insert()
                        await Task.yield()
                    }
                }
            }
            try await world.clients(3) { client, random in
                let call = Task { try await client.route("app://fill") }
                for _ in 0..<random.int(in: 0...40) { await Task.yield() }
                if random.int(in: 0...2) == 0 { node.crash() }
                _ = try? await call.value
                try await Task.sleep(for: .seconds(20))
                try await client.route("app://fill")
            }
            let rows = await database.rows
            #expect(rows >= 30)
        }
    }

    private static let shared = Database()

    @Test func `an actor that all runs share runs on after a run has failed`() async throws {
        for _ in 0..<3 {
            _ = try await failure(seeds: 1...20, limits: SimulationLimits(steps: 200)) { world in
                try await withThrowingTaskGroup { group in
                    for _ in 0..<5 {
                        group.addTask { while true { await Self.shared.insert() } }
                    }
                    try await group.waitForAll()
                }
            }
        }
        await Self.shared.insert()
    }

    @Test func `the end of a node ends its signals and its listeners`() async throws {
        try await simulate(seeds: 1...10) { world in
            let node = try await world.node("shop") { bus in
                Task { for try await _ in try await bus.eventLoop.signals(.user1) {} }
                Task {
                    let address = StreamAddress.tcp("127.0.0.1", port: 0)
                    let listener = try await StreamListener.bind(address, on: bus.eventLoop)
                    for try await _ in listener.connections {}
                }
            }
            try await Task.sleep(for: .seconds(1))
            node.crash()
            try await Task.sleep(for: .seconds(20))
            #expect(node.isRunning)
        }
    }

    @Test func `the publications of one node reach another in order without faults`() async throws {
        try await simulate(seeds: 1...200) { world in
            let news = Journal<Int>()
            _ = try await world.node("receiver") { bus in
                try bus.subscribe("app://news/:n") { message in news.add(try message.argument("n")) }
            }
            _ = try await world.node("sender") { bus in
                try bus.register("app://sender/go") { _ async throws in
                    for number in 1...5 { try await bus.publish("app://news/\(number)") }
                }
            }
            world.always("news are in order") { news.entries == Array((1...5).prefix(news.count)) }
            world.eventually("all news arrive") { news.count == 5 }
            try await world.clients(1) { client, _ in try await client.route("app://sender/go") }
        }
    }

    @Test func `a message from one node to another has its faults once`() async throws {
        let (failed, ended) = (Tally(), Tally())
        let all = 5_000
        try await simulate(seed: 1, faults: Faults(failure: 0.1)) { world in
            _ = try await world.node("far") { bus in try bus.register("app://far") { _ in } }
            _ = try await world.node("near") { bus in
                Task {
                    for _ in 0..<all {
                        do {
                            try await bus.route("app://far")
                        } catch {
                            failed.add()
                        }
                        ended.add()
                    }
                }
            }
            world.eventually("all calls have ended") { ended.count == all }
        }
        let share = Double(failed.count) / Double(all)
        #expect((0.08...0.12).contains(share), "\(share)")
    }

    @Test func `a run fails when its repetition fails for another reason`() async throws {
        let total = Mutex(0)
        let failure = try await failure(seeds: 1...5) { world in
            for _ in 0..<3 { total.withLock { $0 += 1 } }
            world.eventually("the total is 3") { total.withLock { $0 } == 3 }
        }
        #expect(failure.seed == 1 && failure.reason.hasPrefix("Two runs of the same seed differ"))
    }

    @Test func `a deadline of a crashed node does not run code of the node`() async throws {
        let cancelled = Mutex(0)
        try await simulate(seeds: 1...10) { world in
            let node = try await world.node("shop") { bus in
                try bus.register("app://wait") { _ async in
                    await withTaskCancellationHandler {
                        try? await Task.sleep(for: .seconds(3600))
                    } onCancel: {
                        cancelled.withLock { $0 += 1 }
                    }
                }
            }
            try await world.clients(1) { client, _ in
                let call = Task { try await client.route("app://wait", timeout: .seconds(60)) }
                try await Task.sleep(for: .seconds(1))
                node.crash()
                _ = try? await call.value
                try await Task.sleep(for: .seconds(120))
            }
        }
        #expect(cancelled.withLock { $0 } == 0)
    }

    @Test func `a check that polls, and an invariant that waits, fail with their names`() async throws {
        let polling = try await failure(limits: SimulationLimits(steps: 1_000)) { world in
            world.eventually("it is done") { while true { await Task.yield() } }
        }
        #expect(polling.reason.hasPrefix("The check \"it is done\" threw an error: it did not end"))
        let waiting = try await failure { world in
            let node = try await world.node("shop") { bus in try await bus.install { Stock() } }
            world.always("it waits") {
                try await Task.sleep(for: .seconds(1))
                return node.isRunning
            }
            try await world.clients(1) { client, _ in try await client.route("app://stock/take") }
        }
        #expect(waiting.reason.contains("use `world.eventually`"))
    }

    @Test func `an invariant is evaluated although only clients and plain actors have worked`() async throws {
        let failure = try await failure(seeds: 1...1) { world in
            let database = Database()
            world.always("the database is empty") { await database.rows == 0 }
            await database.insert()
        }
        #expect(failure.reason == "The invariant \"the database is empty\" does not hold")
    }

    @Test func `the failure of a handler can be lost like its value`() async throws {
        let codes = Mutex<Set<RoutingError.Code>>([])
        try await simulate(seeds: 1...40, faults: Faults(failure: 1)) { world in
            _ = try await world.node("shop") { bus in
                try bus.register("app://closed") { _ in throw RoutingError.refused("closed") }
                try bus.register("app://outer") { _ async throws in try await bus.route("app://closed") }
            }
            try await world.clients(1) { client, _ in
                do {
                    try await client.route("app://outer")
                } catch let error as RoutingError {
                    codes.withLock { _ = $0.insert(error.code) }
                }
            }
        }
        #expect(codes.withLock { $0 } == [.unreachable])
    }

    @Test func `a run that is stuck fails at the time at which it is stuck`() async throws {
        let failure = try await failure { world in
            _ = try await world.node("shop") { bus in
                try bus.register("app://item/<int:id>") { _ async in
                    unsafe await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
                }
            }
            try await world.clients(1) { client, _ in try await client.route("app://item/7") }
        }
        #expect(failure.elapsed == .zero)
        // The name of a route contains characters that Mermaid reserves.
        #expect(failure.mermaid.contains("participant P2 as shop app://item/#60;int:id#62;"))
    }

    #if Durable
    @Test func `a simulated disk has one store for each file, and room for many files`() async throws {
        try await simulate(seeds: 1...3) { world in
            _ = try await world.node("shop") { bus in
                let first = try await DurableStore("shop.db")
                for path in ["shop.db", "./shop.db", ".//shop.db"] {
                    let error = await #expect(throws: DurableError.self) { try await DurableStore(path) }
                    #expect(error?.code == .inUse, "\(path)")
                }
                let folder = String(repeating: "folder/", count: 100)
                var others: [DurableStore] = []
                for number in 0..<40 { others.append(try await DurableStore("\(folder)\(number).db")) }
                await first.close()
                // The file is free again.
                let again = try await DurableStore("shop.db")
                try await bus.attach(again)
                return others
            }
        }
    }

    @Test func `an invariant that reads a store does not fail when the power is lost`() async throws {
        try await simulate(seeds: 1...50, faults: Faults(powerLoss: .perHour(60))) { world in
            let shop = try await world.node("shop") { bus in
                try bus.register("app://mail") { _ in }
                let store = try await DurableStore("mail.db")
                try await bus.attach(store)
                try bus.register("app://order") { _ async throws in try await store.send("app://mail") }
                // The store of an earlier process is known until the start code has ended.
                try await Task.sleep(for: .seconds(5))
                return store
            }
            world.always("no message is dead") { try await shop.contents.statistics().dead == 0 }
            world.eventually("all messages are handled") {
                guard shop.isRunning else { return false }
                return try await shop.contents.statistics().waiting == 0
            }
            try await world.clients(1) { client, random in
                for _ in 0..<10 {
                    try await Task.sleep(for: random.duration(in: .seconds(1) ... .seconds(300)))
                    _ = try? await client.route("app://order", as: Void.self)
                }
            }
        }
    }

    @Test func `a node with an idle store loses power at the given rate`() async throws {
        let starts = Mutex(0)
        try await simulate(seed: 1, faults: Faults(powerLoss: .perHour(10))) { world in
            _ = try await world.node("shop") { bus in
                starts.withLock { $0 += 1 }
                let store = try await DurableStore("mail.db")
                try await bus.attach(store)
                return store
            }
            for _ in 0..<600 { try await Task.sleep(for: .seconds(60)) }
        }
        #expect(starts.withLock { $0 } > 10)
    }
    #endif
}
#endif
