import Testing
import Waybill
import WaybillEventLoop
import WaybillTestSupport
import WaybillTesting

@Suite(.timeLimit(.minutes(1)))
struct TimeoutMiddlewareTests {
    let bus = MessageBus(configuration: .quiet)

    @Test(arguments: RouteTests.Place.allCases)
    func `a delivery that exceeds the timeout fails with deadlineExceeded`(
        place: RouteTests.Place
    ) async throws {
        let clock = ManualClock()
        let bus = MessageBus(clock: clock, configuration: .quiet)
        let (started, never, ended) = (Gate(), Gate(), Gate())
        try bus.register("app://slow") { message in
            #expect(message.deadline != nil)
            started.open()
            await never.wait()
            ended.open()
        }
        bus.use(TimeoutMiddleware(.milliseconds(20)))
        async let failed = RouteTests.run(place, bus) { await failure { try await bus.route("app://slow") } }
        await started.wait()
        await clock.advance(by: .milliseconds(20))
        let error = await failed
        #expect(error?.code == .deadlineExceeded && error?.url == "app://slow")
        #expect(bus.statistics.expired == 1 && bus.statistics.inFlight == 0)
        never.open()
        await ended.wait()
        #expect(bus.statistics.sent == 1)
    }

    @Test func `a delivery within the timeout is not affected`() async throws {
        try self.bus.register("app://now") { _ in 1 }
        try self.bus.register("app://later") { _ in
            await Task.yield()
            return 2
        }
        self.bus.use(TimeoutMiddleware(.seconds(60)))
        #expect(try await self.bus.route("app://now", as: Int.self) == 1)
        #expect(try await self.bus.route("app://later", as: Int.self) == 2)
        #expect(self.bus.statistics.replied == 2)
    }

    @Test func `the caller's deadline applies if it is earlier than the timeout`() async throws {
        let deadline = ContinuousClock.now + .seconds(5)
        try self.bus.register("app://deadline") { $0.deadline == deadline }
        self.bus.use(TimeoutMiddleware(.seconds(60)))
        #expect(try await self.bus.route("app://deadline", deadline: deadline, as: Bool.self))
    }

    @Test func `a timeout inside of a retry bounds each attempt`() async throws {
        let clock = ManualClock()
        let bus = MessageBus(clock: clock, configuration: .quiet)
        let attempts = Journal<Int>()
        try bus.register("app://flaky") { _ -> Int in
            attempts.add(attempts.count)
            if attempts.count < 3 { try await hang() }
            return attempts.count
        }
        bus.use(
            try RetryMiddleware(
                idempotent: ["app://flaky"],
                backoff: Backoff(first: .milliseconds(1)),
                codes: [.deadlineExceeded]
            )
        )
        bus.use(TimeoutMiddleware(.milliseconds(50)))
        async let answer = bus.route("app://flaky", as: Int.self)
        for attempt in 1...2 {
            #expect(await eventually { attempts.count == attempt })
            await clock.waitForPending()
            await clock.advance(by: .milliseconds(50))
            // The clock does not see the task that begins the pause before the next attempt.
            let hasRetried = await eventually {
                await clock.advance(by: .milliseconds(1))
                return attempts.count > attempt
            }
            #expect(hasRetried)
        }
        #expect(try await answer == 3)
        #expect(bus.statistics.sent == 1 && bus.statistics.replied == 1)
    }
}
