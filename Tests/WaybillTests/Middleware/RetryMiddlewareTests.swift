import Testing
import Waybill
import WaybillEventLoop
import WaybillTestSupport
import WaybillTesting

/// A clock that records sleeps and ends them at once.
struct NotingClock: Clock {
    let sleeps = Journal<Duration>()
    var now: ContinuousClock.Instant { .now }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        self.sleeps.add(ContinuousClock.now.duration(to: deadline))
        try Task.checkCancellation()
    }
}

@Suite(.timeLimit(.minutes(1)))
struct RetryMiddlewareTests {
    struct Oops: Error {}

    let bus = MessageBus(configuration: .quiet)
    let clock = NotingClock()
    let attempts = Journal<Int>()

    private func register(failing: Int, _ code: RoutingError.Code? = nil) throws {
        let attempts = self.attempts
        for url in ["app://stock/a", "app://pay"] {
            try self.bus.register(url) { message -> Int in
                attempts.add(attempts.count)
                guard attempts.count > failing else {
                    if let code { throw RoutingError(code, message: "no") }
                    throw Oops()
                }
                return attempts.count
            }
        }
    }

    private func retry(_ attempts: Int) throws -> RetryMiddleware {
        try RetryMiddleware(
            idempotent: ["app://stock/**"],
            attempts: attempts,
            backoff: Backoff(first: .seconds(10), factor: 3, longest: .seconds(50), jitter: 0.5),
            clock: self.clock
        )
    }

    @Test(arguments: RouteTests.Place.allCases)
    func `the retry middleware retries after growing pauses, and counts one message`(
        place: RouteTests.Place
    ) async throws {
        try self.register(failing: 3)
        self.bus.use(try self.retry(4))
        let bus = self.bus
        let value = try await RouteTests.run(place, bus) {
            try await bus.route("app://stock/a", as: Int.self)
        }
        #expect(value == 4)
        #expect(bus.statistics.sent == 1 && bus.statistics.replied == 1)
        let sleeps = self.clock.sleeps.entries
        #expect(sleeps.count == 3)
        for (sleep, most) in zip(sleeps, [10, 30, 50]) {
            #expect(sleep <= .seconds(most) && sleep > .seconds(most) / 2 - .seconds(1))
        }
    }

    @Test func `the retry middleware retries a long URL if it has the limits of the bus`() async throws {
        var configuration = MessageBus.Configuration.quiet
        configuration.limits.urlLength = 20_000
        let bus = MessageBus(configuration: configuration)
        let attempts = Tally()
        try bus.register("app://stock/a") { _ -> Int in
            attempts.add()
            guard attempts.count > 1 else { throw Oops() }
            return attempts.count
        }
        bus.use(
            try RetryMiddleware(
                idempotent: ["app://stock/**"],
                clock: self.clock,
                limits: configuration.limits
            )
        )
        let url = "app://stock/a?note=" + String(repeating: "x", count: 10_000)
        #expect(try await bus.route(url, as: Int.self) == 2)
    }

    @Test func `the retry middleware fails with the last failure after its last attempt`() async throws {
        try self.register(failing: 9)
        self.bus.use(try self.retry(3))
        let error = await failure { try await self.bus.route("app://stock/a") }
        #expect(error?.code == .handlerFailed && error?.cause is Oops && self.attempts.count == 3)
        #expect(self.bus.statistics.sent == 1 && self.bus.statistics.failed == 1)
    }

    @Test func `the retry middleware does not retry a route that is not idempotent`() async throws {
        try self.register(failing: 9)
        self.bus.use(try self.retry(3))
        #expect(await failure { try await self.bus.route("app://pay") }?.code == .handlerFailed)
        #expect(self.attempts.count == 1)
    }

    @Test func `the retry middleware does not retry an error that a retry cannot repair`() async throws {
        try self.register(failing: 9, .refused)
        self.bus.use(try self.retry(3))
        #expect(await failure { try await self.bus.route("app://stock/a") }?.code == .refused)
        #expect(self.attempts.count == 1)
    }

    @Test func `the retry middleware does not wait past the deadline`() async throws {
        try self.register(failing: 9)
        self.bus.use(try self.retry(3))
        let error = await failure {
            try await self.bus.route("app://stock/a", deadline: .now + .seconds(4))
        }
        #expect(error?.code == .handlerFailed && self.attempts.count == 1 && self.clock.sleeps.count == 0)
    }

    @Test func `cancelling the caller ends the retry middleware's wait`() async throws {
        let started = Gate()
        try self.bus.register("app://stock/a") { _ in
            started.open()
            throw Oops()
        }
        self.bus.use(
            try RetryMiddleware(idempotent: ["app://stock/a"], backoff: Backoff(first: .seconds(3600)))
        )
        let caller = Task { [bus] in await failure { try await bus.route("app://stock/a") } }
        await started.wait()
        caller.cancel()
        #expect(await caller.value?.code == .cancelled)
        #expect(self.bus.statistics.cancelled == 1)
    }

    @Test func `an attempt that has timed out cannot send progress replies to the caller`() async throws {
        let clock = ManualClock()
        let bus = MessageBus(clock: clock, configuration: .quiet)
        let (attempts, heard) = (Tally(), Journal<String>())
        let (first, isOver, second) = (Gate(), Gate(), Gate())
        try bus.register("app://stock/a") { message -> Bool in
            attempts.add()
            if attempts.count == 1 {
                first.open()
                await isOver.wait()
                let isHeard = await message.reply(with: "first")
                second.open()
                return isHeard
            }
            isOver.open()
            await second.wait()
            return await message.reply(with: "second")
        }
        bus.use(
            try RetryMiddleware(
                idempotent: ["app://stock/a"],
                codes: [.deadlineExceeded],
                clock: self.clock
            )
        )
        bus.use(TimeoutMiddleware(.seconds(1)))
        async let reply: Bool = bus.route("app://stock/a") { (update: String) in heard.add(update) }
        await first.wait()
        await clock.advance(by: .seconds(1))
        #expect(try await reply)
        #expect(heard.entries == ["second"])
    }

    @Test func `the retry middleware retries a sent message`() async throws {
        try self.register(failing: 2)
        self.bus.use(try self.retry(3))
        self.bus.send("app://stock/a")
        #expect(await eventually { self.bus.statistics.replied == 1 })
        #expect(self.attempts.count == 3 && self.bus.statistics.sent == 1)
    }

    @Test func `a backoff without jitter has exact delays`() {
        let backoff = Backoff(first: .seconds(1), factor: 2, longest: .seconds(5), jitter: 0)
        #expect((1...4).map(backoff.delay) == [.seconds(1), .seconds(2), .seconds(4), .seconds(5)])
    }

    @Test(arguments: [1, 2_000, .max])
    func `a backoff of any values has a delay that is not negative`(attempts: Int) {
        #expect(Backoff(first: .zero).delay(after: attempts) == .zero)
        #expect(Backoff(first: .seconds(-1)).delay(after: 1) == .zero)
        let endless = Backoff(first: .seconds(Int64.max), longest: .seconds(Int64.max), jitter: 0)
        #expect(endless.delay(after: attempts) > .seconds(3_600))
        let odd = Backoff(first: .seconds(1), factor: .nan, longest: .seconds(5), jitter: .nan)
        #expect((.zero ... .seconds(5)).contains(odd.delay(after: attempts)))
    }
}
