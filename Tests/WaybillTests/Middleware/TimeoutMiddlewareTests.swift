import Testing
import Waybill
import WaybillEventLoop

@Suite(.timeLimit(.minutes(1)))
struct TimeoutMiddlewareTests {
    let bus = MessageBus(configuration: .quiet)

    @Test(arguments: RouteTests.Place.allCases)
    func `a delivery that takes too long is left behind`(place: RouteTests.Place) async throws {
        let (started, never, ended) = (Gate(), Gate(), Gate())
        try self.bus.register("app://slow") { message in
            #expect(message.deadline != nil)
            started.open()
            await never.wait()
            ended.open()
        }
        self.bus.use(TimeoutMiddleware(.milliseconds(20)))
        let bus = self.bus
        let error = await RouteTests.run(place, bus) { await failure { try await bus.route("app://slow") } }
        #expect(error?.code == .deadlineExceeded && error?.url == "app://slow")
        await started.wait()
        #expect(bus.statistics.expired == 1 && bus.statistics.inFlight == 0)
        never.open()
        await ended.wait()
        #expect(bus.statistics.sent == 1)
    }

    @Test func `a quick one is not`() async throws {
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

    @Test func `the earlier deadline holds`() async throws {
        let deadline = ContinuousClock.now + .seconds(5)
        try self.bus.register("app://deadline") { $0.deadline == deadline }
        self.bus.use(TimeoutMiddleware(.seconds(60)))
        #expect(try await self.bus.route("app://deadline", deadline: deadline, as: Bool.self))
    }

    @Test func `it bounds each attempt inside of a retry`() async throws {
        let attempts = Journal<Int>()
        try self.bus.register("app://flaky") { _ -> Int in
            attempts.add(attempts.count)
            if attempts.count < 3 { try await Task.sleep(for: .seconds(60)) }
            return attempts.count
        }
        self.bus.use(
            try RetryMiddleware(
                idempotent: ["app://flaky"],
                backoff: Backoff(first: .milliseconds(1)),
                codes: [.deadlineExceeded]
            )
        )
        self.bus.use(TimeoutMiddleware(.milliseconds(50)))
        #expect(try await self.bus.route("app://flaky", as: Int.self) == 3)
        #expect(self.bus.statistics.sent == 1 && self.bus.statistics.replied == 1)
    }
}
