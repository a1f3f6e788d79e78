import Testing
import Waybill
import WaybillEventLoop
import WaybillTestSupport
import WaybillTesting

@Suite(.timeLimit(.minutes(1)))
struct ManualClockTests {
    private let clock = ManualClock()

    @Test func `a manual clock stands still until it is advanced`() async throws {
        let start = self.clock.now
        try await Task.sleep(for: .milliseconds(5))
        #expect(self.clock.now == start)
        await self.clock.advance(by: .seconds(3600))
        #expect(self.clock.now == start + .seconds(3600))
        await self.clock.advance(to: start)
        #expect(self.clock.now == start + .seconds(3600))
    }

    @Test func `a deadline passes when the manual clock reaches it, and not before`() async throws {
        let bus = MessageBus(clock: self.clock, configuration: .quiet)
        let stub = try bus.stub("app://slow", .never)
        let deadline = self.clock.now + .seconds(10)
        let caller = Task { await failure { try await bus.route("app://slow", deadline: deadline) } }
        await stub.called()
        await self.clock.advance(by: .seconds(9))
        #expect(bus.statistics.inFlight == 1)
        await self.clock.advance(by: .seconds(1))
        #expect(bus.statistics.expired == 1)
        #expect(bus.statistics.inFlight == 0)
        #expect(await caller.value?.code == .deadlineExceeded)
    }

    @Test func `a message whose deadline has passed on the manual clock is not delivered`() async throws {
        let bus = MessageBus(clock: self.clock, configuration: .quiet)
        let stub = try bus.stub("app://user", .value(1))
        await self.clock.advance(by: .seconds(60))
        let late = self.clock.now - .seconds(1)
        #expect(
            await failure { try await bus.route("app://user", deadline: late) }?.code == .deadlineExceeded
        )
        #expect(stub.callCount == 0)
        // The deadline is sixty seconds ahead of the system's clock, and has not passed by the manual clock.
        try await bus.route("app://user", deadline: self.clock.now + .seconds(1))
        #expect(stub.callCount == 1)
    }

    @Test func `sleepers on a loop of the clock continue in order before the clock advances`()
        async throws
    {
        let loop = self.clock.makeEventLoop()
        let sleeper = Dreamer(eventLoop: loop)
        let task = Task { try await sleeper.sleepThrice() }
        while loop.statistics.pendingTimers == 0 { try await Task.sleep(for: .milliseconds(1)) }
        let start = self.clock.now
        await self.clock.advance(by: .seconds(10))
        try await task.value
        #expect(await sleeper.wakings.map { $0 - start } == [.seconds(1), .seconds(2), .seconds(3)])
    }

    @Test func `a task that sleeps on the manual clock continues when it advances, or is cancelled`()
        async throws
    {
        let clock = self.clock
        let sleeper = Task { try await clock.sleep(for: .seconds(5)) }
        let cancelled = Task { try await clock.sleep(for: .seconds(5)) }
        #expect(await clock.waitForPending(2))
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        #expect(clock.pending == 1)
        await clock.advance(by: .seconds(5))
        try await sleeper.value
        #expect(clock.pending == 0)
    }

    @Test func `the timeout middleware measures time by the manual clock`() async throws {
        let bus = MessageBus(clock: self.clock, configuration: .quiet)
        bus.use(TimeoutMiddleware(.seconds(30)))
        let stub = try bus.stub("app://slow", .never)
        let caller = Task { await failure { try await bus.route("app://slow") } }
        await stub.called()
        await self.clock.advance(by: .seconds(29))
        #expect(bus.statistics.inFlight == 1)
        await self.clock.advance(by: .seconds(1))
        #expect(await caller.value?.code == .deadlineExceeded)
    }

    @Test func `retries wait for the manual clock`() async throws {
        let bus = MessageBus(clock: self.clock, configuration: .quiet)
        let backoff = Backoff(first: .seconds(60), factor: 1, longest: .seconds(60), jitter: 0)
        bus.use(try RetryMiddleware(idempotent: ["app://rates"], attempts: 3, backoff: backoff))
        let unreachable = RoutingError(.unreachable, message: "not now")
        let stub = try bus.stub("app://rates", .failure(unreachable), .failure(unreachable), .value(1.5))
        let caller = Task { try await bus.route("app://rates", as: Double.self) }
        await stub.called()
        #expect(await self.clock.waitForPending())
        await self.clock.advance(by: .seconds(59))
        #expect(stub.callCount == 1)
        await self.clock.advance(by: .seconds(1))
        #expect(await eventually { stub.callCount == 2 })
        #expect(await self.clock.waitForPending())
        await self.clock.advance(by: .seconds(60))
        #expect(try await caller.value == 1.5)
        #expect(stub.callCount == 3)
    }

    @Test func `two buses with two manual clocks have separate times`() async throws {
        let other = ManualClock()
        let bus = MessageBus(clock: other, configuration: .quiet)
        let stub = try bus.stub("app://slow", .never)
        let caller = Task {
            await failure { try await bus.route("app://slow", deadline: other.now + .seconds(1)) }
        }
        await stub.called()
        await self.clock.advance(by: .seconds(100))
        #expect(bus.statistics.inFlight == 1)
        await other.advance(by: .seconds(1))
        #expect(await caller.value?.code == .deadlineExceeded)
    }

    @Test func `a bus with several loops shuts down although its manual clock stands still`() async throws {
        let bus = MessageBus(clock: self.clock, eventLoops: 2, configuration: .quiet)
        try bus.stub("app://user", .value(1))
        let value: Int = try await bus.route("app://user")
        #expect(value == 1)
        let summary = await bus.shutDown()
        #expect(summary.abandoned == 0)
    }

    @Test func `a loop of the clock that shuts down fails its sleepers`() async throws {
        let loop = self.clock.makeEventLoop()
        let sleeper = Task { try await loop.clock.sleep(for: .seconds(5)) }
        while loop.statistics.pendingTimers == 0 { try await Task.sleep(for: .milliseconds(1)) }
        await loop.shutDown()
        await #expect(throws: EventLoopError.self) { try await sleeper.value }
        await self.clock.advance(by: .seconds(10))
        #expect(self.clock.pending == 0)
    }
}

/// An actor that sleeps on its loop.
private actor Dreamer: LoopBound {
    let eventLoop: EventLoop
    private(set) var wakings: [ContinuousClock.Instant] = []

    init(eventLoop: EventLoop) { self.eventLoop = eventLoop }

    func sleepThrice() async throws {
        for _ in 0..<3 {
            try await self.eventLoop.clock.sleep(for: .seconds(1))
            self.wakings.append(self.eventLoop.clock.now)
        }
    }
}
