import Testing
import Waybill
import WaybillTestSupport
import WaybillTesting

/// A timeout is measured by the bus's clock, in each call that has a deadline.
@Suite(.timeLimit(.minutes(1)))
struct TimeoutTests {
    private let clock = ManualClock()
    private let bus: MessageBus

    init() { self.bus = MessageBus(clock: self.clock, configuration: .quiet) }

    enum Call: String, CaseIterable, Sendable {
        case reply, value, typedURL, callback, callbackReply, replies, publish, enqueue

        func run(
            on bus: MessageBus,
            deadline: ContinuousClock.Instant? = nil,
            timeout: Duration? = nil
        ) async throws {
            let url = "app://slow"
            switch self {
            case .reply: try await bus.route(url, deadline: deadline, timeout: timeout)
            case .value: _ = try await bus.route(url, deadline: deadline, timeout: timeout, as: Int.self)
            case .typedURL:
                let typed = TypedURL<Int>("app://slow")
                _ = try await bus.route(typed, deadline: deadline, timeout: timeout)
            case .callback:
                _ = try await bus.route(url, deadline: deadline, timeout: timeout, as: Int.self) { (_: Int) in
                }
            case .callbackReply:
                try await bus.route(url, deadline: deadline, timeout: timeout) { (_: Int) in }
            case .replies:
                for try await _ in bus.replies(to: url, deadline: deadline, timeout: timeout) {}
            case .publish: try await bus.publish(url, deadline: deadline, timeout: timeout)
            case .enqueue: try await bus.enqueue(url, deadline: deadline, timeout: timeout)
            }
        }
    }

    /// Registers a handler and a subscriber that do not end by themselves, and returns a sequence that
    /// reports their start.
    private func start(_ call: Call) throws -> AsyncStream<Void> {
        let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
        let wait: @Sendable (Message) async throws -> Int = { _ in
            beginning.yield()
            try await Task.sleep(for: .seconds(3_600))
            return 1
        }
        if call == .publish {
            try self.bus.subscribe("app://slow") { _ = try await wait($0) }
        } else {
            try self.bus.register("app://slow", wait)
        }
        return begun
    }

    @Test(arguments: Call.allCases)
    func `a timeout passes when the manual clock reaches it, and not before`(call: Call) async throws {
        let begun = try self.start(call)
        // The manual clock is now behind the system's clock, which must make no difference.
        try await Task.sleep(for: .milliseconds(2))
        let bus = self.bus
        let caller = Task { try await call.run(on: bus, timeout: .seconds(5)) }
        for await _ in begun { break }
        await self.clock.advance(by: .seconds(5) - .nanoseconds(1))
        #expect(bus.statistics.inFlight == 1 && bus.statistics.expired == 0)
        await self.clock.advance(by: .nanoseconds(1))
        _ = await caller.result
        // A message without a caller ends with its handler, which is cancelled.
        while bus.statistics.inFlight > 0 { await Task.yield() }
        // A message that no caller awaits ends as a dead letter, whatever the reason.
        #expect(bus.statistics.expired == (call == .enqueue ? 0 : 1))
        #expect(bus.statistics.deadLettered == (call == .enqueue ? 1 : 0))
    }

    @Test(arguments: Call.allCases, [Duration.zero, .seconds(-1), .seconds(Int64.min), .nanoseconds(-1)])
    func `a timeout that is not positive expires at once`(call: Call, timeout: Duration) async throws {
        _ = try self.start(call)
        let error = await failure { try await call.run(on: self.bus, timeout: timeout) }
        #expect(error?.code == .deadlineExceeded)
    }

    @Test(arguments: [Duration.seconds(Int64.max), .seconds(300 * 366 * 86_400), .seconds(10_000_000_000)])
    func `a timeout too large for the clock never expires`(timeout: Duration) async throws {
        let bus = self.bus
        for call in Call.allCases where call != .publish {
            let (begun, held) = (Gate(), Gate())
            let registration = try bus.register("app://slow") { _ -> Int in
                begun.open()
                await held.wait()
                #expect(!Task.isCancelled)
                return 1
            }
            let caller = Task { try await call.run(on: bus, timeout: timeout) }
            await begun.wait()
            await self.clock.advance(by: .seconds(365 * 86_400))
            #expect(bus.statistics.inFlight == 1 && bus.statistics.expired == 0)
            held.open()
            try await caller.value
            #expect(await bus.settles())
            #expect(bus.statistics.deadLettered == 0)
            registration.cancel()
        }
    }

    @Test(arguments: [(2, 5), (5, 2)])
    func `the earlier one of deadline and timeout applies`(deadline: Int, timeout: Int) async throws {
        let begun = try self.start(.reply)
        let bus = self.bus
        let instant = self.clock.now + .seconds(deadline)
        let caller = Task { try await bus.route("app://slow", deadline: instant, timeout: .seconds(timeout)) }
        for await _ in begun { break }
        await self.clock.advance(by: .seconds(1))
        #expect(bus.statistics.expired == 0)
        await self.clock.advance(by: .seconds(1))
        #expect(bus.statistics.expired == 1)
        _ = await caller.result
    }

    @Test func `a handler's call with a timeout fails when the manual clock passes it`() async throws {
        let stub = try self.bus.stub("app://stock", .never)
        try self.bus.register("app://order") { [unowned bus] _ -> Int in
            try await bus.route("app://stock", timeout: .seconds(5))
        }
        let bus = self.bus
        let caller = Task { await failure { try await bus.route("app://order", as: Int.self) } }
        await stub.called()
        await self.clock.advance(by: .seconds(5))
        let error = await caller.value
        #expect(error?.code == .handlerFailed && error?.rootCause.code == .deadlineExceeded)
    }

    @Test func `the timeout of a sequence of replies begins with the iteration`() async throws {
        try self.bus.register("app://slow") { _ in 1 }
        let replies = self.bus.replies(to: "app://slow", timeout: .seconds(5))
        await self.clock.advance(by: .seconds(60))
        var count = 0
        for try await _ in replies { count += 1 }
        #expect(count == 1)
    }

    @Test func `a report uses the singular for one route`() async throws {
        try self.bus.register("one://thing") { _ in }
        let report = await ModuleTestCase(scheme: "one", on: self.bus).report()
        #expect("\(report)".contains("0 problems, 1 route, "))
    }
}
