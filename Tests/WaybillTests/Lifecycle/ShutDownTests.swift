import Testing
import Waybill
import WaybillEventLoop
import WaybillTestSupport

@Suite(.timeLimit(.minutes(1)), .everyHost)
struct ShutDownTests {
    let bus = MessageBus.onHost()

    @Test func `messages in flight finish during a shutdown, with the messages that they still send`()
        async throws
    {
        let started = Gate()
        let gate = Gate()
        let heard = Journal<Int>()
        try self.bus.register("app://inner") { _ in 20 }
        try self.bus.register("app://late") { _ -> Int in
            await Task.yield()
            return 22
        }
        try self.bus.register("app://log") { _ in heard.add(1) }
        try self.bus.register("app://outer") { [weak bus] _ -> Int in
            started.open()
            await gate.wait()
            guard let bus else { return 0 }
            bus.send("app://log")
            return try await bus.route("app://inner", as: Int.self) + bus.route("app://late", as: Int.self)
        }
        async let sum = self.bus.route("app://outer#log", as: Int.self)
        await started.wait()
        let bus = self.bus
        async let summary = bus.shutDown(drainingUntil: .now + .seconds(30))
        #expect(await bus.closes())
        #expect(await failure { try await bus.route("app://inner") }?.code == .shutDown)
        gate.open()
        #expect(try await sum == 42)
        // The message may have ended before the shutdown counts the messages in flight.
        let abandoned = await summary.abandoned
        #expect(abandoned == 0)
        #expect(heard.entries == [1, 1])
        #expect(bus.statistics.inFlight == 0)
    }

    @Test(arguments: [true, false])
    func `a message without a handler that a middleware holds fails at the shutdown`(
        isSent: Bool
    ) async throws {
        let (started, end, cancelled) = (Gate(), Gate(), Gate())
        self.bus.use(Hanging(started: started, end: end, cancelled: cancelled))
        let bus = self.bus
        var letters = bus.deadLetters.makeAsyncIterator()
        if isSent { bus.send("app://nobody") }
        let caller = Task {
            isSent
                ? nil : await failure { try await bus.route("app://nobody", timeout: .seconds(3600)) }?.code
        }
        await started.wait()
        await bus.shutDown()
        #expect(await caller.value == (isSent ? nil : .shutDown))
        if isSent { #expect(await letters.next()?.error.code == .shutDown) }
        await cancelled.wait()
        end.open()
        #expect(bus.statistics.inFlight == 0)
    }

    @Test func `a message that outlasts the shutdown fails, and its handler is cancelled`() async throws {
        let started = Gate()
        let gate = Gate()
        let cancelled = Gate()
        try self.bus.register("app://slow") { _ in
            started.open()
            await withTaskCancellationHandler {
                await gate.wait()
            } onCancel: {
                cancelled.open()
            }
        }
        async let error = failure { try await self.bus.route("app://slow") }
        await started.wait()
        let summary = await self.bus.shutDown(drainingUntil: .now + .milliseconds(20))
        #expect(summary.counts == [0, 1])
        #expect(await error?.code == .shutDown)
        await cancelled.wait()
        gate.open()
        #expect(self.bus.statistics.inFlight == 0)
    }

    @Test func `messages in a mailbox fail when the bus shuts down`() async throws {
        let begun = Gate()
        let held = Gate()
        let heard = Journal<Int>()
        try self.bus.register("app://hold") { _ in
            begun.open()
            held.block()
        }
        try self.bus.register("app://a") { _ in heard.add(1) }
        self.bus.send("app://hold")
        await begun.wait()
        for _ in 1...3 { self.bus.send("app://a") }
        let caller = Task.immediate { await failure { try await self.bus.route("app://a") } }
        let summary = await self.bus.shutDown()
        #expect(summary.abandoned == 5)
        held.open()
        #expect(await caller.value?.code == .shutDown)
        #expect(await self.bus.settles())
        #expect(heard.count == 0)
        #expect(self.bus.statistics.deadLettered == 4 && self.bus.statistics.replied == 1)
    }

    @Test func `a bus that is shut down rejects messages`() async throws {
        try self.bus.register("app://a") { _ in }
        try self.bus.subscribe("app://a") { _ in }
        await self.bus.shutDown()
        let bus = self.bus
        let probe = Probe(eventLoop: bus.eventLoop)
        let codes = [
            await failure { try await bus.route("app://a") },
            await probe.run { await failure { try await bus.route("app://a", as: Int.self) } },
            await failure { try await bus.publish("app://a") },
            await failure { for try await _ in bus.replies(to: "app://a") {} },
            await failure { try bus.register("app://b") { _ in } },
            await failure { try bus.subscribe("app://b") { _ in } },
        ]
        #expect(codes.map { $0?.code } == Array(repeating: .shutDown, count: 6))
        #expect(!bus.canRoute("app://a") && bus.routes.isEmpty)
        bus.send("app://a")
        #expect(bus.statistics.inFlight == 0 && bus.statistics.deadLettered == 4)
    }

    @Test func `shutting down a bus again changes nothing`() async throws {
        let bus = self.bus
        try bus.register("app://a") { _ in }
        _ = await bus.shutDown()
        let probe = Probe(eventLoop: bus.eventLoop)
        async let again = bus.shutDown(drainingUntil: .now + .seconds(60))
        async let third = bus.shutDown(drainingUntil: .now + .seconds(60))
        #expect(await [again.counts, third.counts] == [[0, 0], [0, 0]])
        #expect(await probe.run { await failure { try await bus.route("app://a") } }?.code == .shutDown)
    }

    @Test func `two concurrent shutdowns both wait for messages in flight`() async throws {
        let started = Gate()
        let gate = Gate()
        try self.bus.register("app://slow") { _ in
            started.open()
            await gate.wait()
            return 1
        }
        async let value = self.bus.route("app://slow", as: Int.self)
        await started.wait()
        async let first = self.bus.shutDown(drainingUntil: .now + .seconds(30))
        async let second = self.bus.shutDown(drainingUntil: .now + .seconds(30))
        #expect(await self.bus.closes())
        gate.open()
        #expect(await (first.abandoned, second.abandoned) == (0, 0))
        #expect(try await value == 1)
    }

    @Test func `a second shutdown with an earlier deadline ends the first one`() async throws {
        let started = Gate()
        let gate = Gate()
        try self.bus.register("app://slow") { _ in
            started.open()
            await gate.wait()
        }
        async let error = failure { try await self.bus.route("app://slow") }
        await started.wait()
        async let first = self.bus.shutDown(drainingUntil: .now + .seconds(3600))
        #expect(await self.bus.closes())
        let second = await self.bus.shutDown()
        #expect(second.counts == [0, 1])
        #expect(await error?.code == .shutDown)
        _ = await first
        #expect(self.bus.statistics.inFlight == 0)
        gate.open()
    }

    @Test func `no registration remains that is made while the bus shuts down`() async throws {
        for _ in 0..<Scale.of(100) {
            let bus = MessageBus(eventLoop: self.bus.eventLoop, configuration: .quiet)
            async let registering: Void = {
                for number in 0..<50 {
                    _ = try? bus.register("app://a/\(number)") { _ in }
                    _ = try? bus.subscribe("app://a/\(number)") { _ in }
                }
            }()
            await bus.shutDown()
            await registering
            #expect(bus.routes.isEmpty)
        }
    }

    @Test func `shutting down a bus leaves its loop running for another bus`() async throws {
        let other = MessageBus(eventLoop: self.bus.eventLoop, configuration: .quiet)
        try other.register("app://a") { _ in 1 }
        await self.bus.shutDown()
        #expect(try await other.route("app://a", as: Int.self) == 1)
    }
}

extension MessageBus {
    /// Waits until the bus rejects registrations.
    func closes() async -> Bool {
        await eventually { await failure { try self.register("app://probe") { _ in }.cancel() } != nil }
    }

    /// The kind of call of a handler whose loop does not run.
    enum Caller: CaseIterable, Sendable { case immediate, suspending, serial, deadline }

    @Test(arguments: Caller.allCases)
    func `shutting down a bus on a loop that does not run resumes its callers`(caller: Caller) async throws {
        let loop = EventLoop.onCallingThread()
        let bus = MessageBus(eventLoop: loop, configuration: .quiet)
        let module = Probe(eventLoop: loop)
        try bus.configureMailbox(of: module, .init(isSerial: caller == .serial))
        try bus.register("app://now", on: module) { _, _ in 1 }
        try bus.register("app://later", on: module) { _, _ async in 1 }
        let url = caller == .suspending ? "app://later" : "app://now"
        let deadline: ContinuousClock.Instant? = caller == .deadline ? .now + .seconds(60) : nil
        let callers = (0..<2).map { _ in
            Task { await failure { try await bus.route(url, deadline: deadline) }?.code }
        }
        #expect(await eventually { bus.statistics.inFlight == 2 })
        let summary = await bus.shutDown(drainingUntil: .now + .milliseconds(20))
        #expect(summary.abandoned == 2)
        for caller in callers { #expect(await caller.value == .shutDown) }
        #expect(bus.statistics.inFlight == 0)
        // The shutdown runs the jobs that are left on the loop.
        await loop.shutDown()
    }

    @Test
    func `a caller of a handler on a blocked loop resumes when cancelled or unregistered`()
        async throws
    {
        let held = Gate()
        let module = Probe(eventLoop: EventLoop())
        let bus = MessageBus.onHost()
        let registration = try bus.register("app://now", on: module) { _, _ in 1 }
        try bus.register("app://hold", on: module) { _, _ in held.block() }
        bus.send("app://hold")
        let callers = (0..<2).map { _ in
            Task.immediate { await failure { try await bus.route("app://now") }?.code }
        }
        callers[0].cancel()
        #expect(await callers[0].value == .cancelled)
        registration.cancel()
        #expect(await callers[1].value == .noHandler)
        held.open()
        #expect(await bus.settles())
    }
}

extension DrainSummary {
    /// The number of messages that ended in time, and the number of abandoned messages.
    var counts: [Int] { [self.finished, self.abandoned] }
}
