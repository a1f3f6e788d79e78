import Testing
import Waybill
import WaybillEventLoop

/// A timer of a millisecond fires soon, whatever the modules of its loop say to each other.
@Suite(.serialized, .timeLimit(.minutes(1)))
struct FairnessTests {
    let loop = EventLoop(name: "fair")
    let bus: MessageBus

    init() { self.bus = MessageBus(eventLoop: self.loop, configuration: .quiet) }

    /// The shortest of several waits for a timer of a millisecond on a loop.
    ///
    /// A starved loop fires none of them; a loop that has to share the processor with other tests fires one in time.
    private func shortestDelay(on loop: EventLoop) async -> Duration {
        var shortest = Duration.seconds(60)
        for _ in 0..<10 {
            let delay = await withCheckedContinuation { continuation in
                loop.execute {
                    let began = ContinuousClock.now
                    loop.schedule(at: began + .milliseconds(1)) {
                        continuation.resume(returning: began.duration(to: .now))
                    }
                }
            }
            shortest = min(shortest, delay)
        }
        return shortest
    }

    private var bound: Duration { .milliseconds(Scale.isSanitized ? 50 : 5) }

    enum Storm: CaseIterable, Sendable {
        case now, later, values, parameters, publish, replies, callback
    }

    @Test(arguments: Storm.allCases, [true, false])
    func `a module that asks another for ever leaves the loop time`(storm: Storm, isHome: Bool) async throws {
        let loop = isHome ? self.loop : EventLoop(name: "other")
        let bus = self.bus
        let (asker, asked) = (Probe(eventLoop: loop), Probe(eventLoop: loop))
        try bus.register("app://now", on: asked) { _, _ in 1 }
        try bus.register("app://later", on: asked) { [weak bus] _, _ in
            try await bus?.route("app://now", as: Int.self)
        }
        try bus.subscribe("app://now") { _ in }
        let stopped = Journal<Bool>()
        async let asking: Void = asker.run {
            while stopped.count == 0 {
                switch storm {
                case .now: try await bus.route("app://now")
                case .later: try await bus.route("app://later")
                case .values: _ = try await bus.route("app://now", as: Int.self)
                case .parameters: try await bus.route("app://now", parameters: ["a": 1])
                case .publish: try await bus.publish("app://now")
                case .replies: for try await _ in bus.replies(to: "app://now") {}
                case .callback: _ = try await bus.route("app://now", as: Int.self) { (_: Int) in }
                }
            }
        }
        #expect(await self.shortestDelay(on: loop) < self.bound)
        stopped.add(true)
        try await asking
    }

    @Test func `a message for very many subscribers leaves the loop time`() async throws {
        let told = Journal<Bool>()
        let seen = Journal<Int>()
        let (bus, loop) = (self.bus, self.loop)
        for _ in 0..<20_000 { try bus.subscribe("app://now") { _ in told.add(true) } }
        let count = try await Probe(eventLoop: loop).run {
            loop.schedule(at: .now) { seen.add(told.count) }
            return try await bus.publish("app://now")
        }
        #expect(count == 20_000)
        #expect(seen.count == 1 && seen.entries.allSatisfy { $0 < 20_000 })
    }

    @Test func `two modules that lead to each other for ever leave the loop time`() async throws {
        let bus = MessageBus(eventLoop: self.loop, configuration: .endless)
        let stopped = Journal<Bool>()
        for (from, to) in [("app://ping", "app://pong"), ("app://pong", "app://ping")] {
            try bus.register(from) { [weak bus] _ in if stopped.count == 0 { bus?.send(to) } }
        }
        for _ in 1...100 { bus.send("app://ping") }
        #expect(await self.shortestDelay(on: self.loop) < self.bound)
        stopped.add(true)
        #expect(await bus.settles())
    }

    @Test func `a storm from other threads leaves the loop time, and who routes meanwhile gets an answer`()
        async throws
    {
        let bus = self.bus
        let stopped = Journal<Bool>()
        try bus.register("app://now") { _ in 1 }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<2 {
                group.addTask { await onThread { while stopped.count == 0 { bus.send("app://now") } } }
            }
            group.addTask {
                try await Probe(eventLoop: self.loop).run {
                    while stopped.count == 0 { _ = try await bus.route("app://now", as: Int.self) }
                }
            }
            #expect(await self.shortestDelay(on: self.loop) < self.bound)
            stopped.add(true)
            try await group.waitForAll()
        }
        #expect(await bus.settles())
    }
}

extension MessageBus.Configuration {
    fileprivate static var endless: Self {
        var configuration = Self.quiet
        configuration.hopLimit = .max
        return configuration
    }
}
