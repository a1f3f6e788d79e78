import Testing
import Waybill
import WaybillEventLoop
import WaybillTestSupport
import WaybillTesting

/// A serial module finishes one message before it starts the next.
@Suite(.timeLimit(.minutes(1)))
struct SerialTests {
    let bus = MessageBus(configuration: .quiet)
    let steps = Journal<String>()

    /// The loop of the module: the bus's loop, or another one.
    enum Place: CaseIterable, Sendable { case near, far }

    private func module(
        _ place: Place,
        _ configuration: MailboxConfiguration = .init(isSerial: true),
        on bus: MessageBus? = nil
    ) throws -> Probe {
        let bus = bus ?? self.bus
        let module = Probe(eventLoop: place == .near ? bus.eventLoop : EventLoop())
        try bus.configureMailbox(of: module, configuration)
        return module
    }

    /// Registers a handler that suspends several times between its first and its last step.
    private func registerSlow(on module: Probe) throws {
        let steps = self.steps
        try self.bus.register("app://slow/:n", on: module) { _, message -> Int in
            let number: Int = try message.parameters.require("n")
            steps.add("+\(number)")
            for _ in 0..<5 { await Task.yield() }
            steps.add("-\(number)")
            return number
        }
    }

    /// Whether each message ended before the next one began.
    private var neverInterleaved: Bool {
        let entries = self.steps.entries
        return stride(from: 0, to: entries.count - 1, by: 2).allSatisfy {
            entries[$0].first == "+" && entries[$0 + 1] == "-\(entries[$0].dropFirst())"
        }
    }

    @Test(arguments: Place.allCases)
    func `messages that are sent, routed and published do not interleave in a serial module`(
        place: Place
    ) async throws {
        let module = try self.module(place)
        try self.registerSlow(on: module)
        let bus = self.bus
        try await withThrowingTaskGroup(of: Void.self) { group in
            for sender in 0..<8 {
                group.addTask {
                    for number in 0..<20 {
                        let url = "app://slow/\(sender * 100 + number)"
                        if number.isMultiple(of: 3) {
                            let answer: Int = try await bus.route(url)
                            #expect(answer == sender * 100 + number)
                        } else {
                            bus.send(url)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(await self.bus.settles())
        #expect(self.steps.count == 320)
        #expect(self.neverInterleaved)
        #expect(self.bus.statistics.replied == 160)
    }

    @Test(arguments: Place.allCases)
    func `a serial module handles one sender's messages in the order sent`(place: Place) async throws {
        let module = try self.module(place)
        try self.registerSlow(on: module)
        let steps = self.steps
        try self.bus.register("app://quick/:n", on: module) { _, message in
            let number: Int = try message.parameters.require("n")
            steps.add("+\(number)")
            steps.add("-\(number)")
        }
        for number in 0..<300 {
            switch number % 5 {
            case 0: try await self.bus.route("app://quick/\(number)")
            case 1: try await self.bus.route("app://slow/\(number)")
            case 2: self.bus.send("app://quick/\(number)")
            default: self.bus.send("app://slow/\(number)")
            }
        }
        #expect(await self.bus.settles())
        #expect(self.steps.entries == (0..<300).flatMap { ["+\($0)", "-\($0)"] })
    }

    @Test func `modules that are not serial interleave their messages`() async throws {
        let module = try self.module(.near, .init())
        let second = Gate()
        try self.bus.register("app://first", on: module) { _, _ in await second.wait() }
        try self.bus.register("app://second", on: module) { _, _ in
            await Task.yield()
            second.open()
        }
        self.bus.send("app://first")
        self.bus.send("app://second")
        #expect(await self.bus.settles())
    }

    @Test func `a serial module that calls itself fails with deadlock`() async throws {
        let module = try self.module(.near)
        let bus = self.bus
        try bus.register("app://self/inner", on: module) { _, _ in 1 }
        try bus.register("app://self/outer", on: module) { [weak bus] _, _ -> Int in
            try await bus?.route("app://self/inner") ?? 0
        }
        let error = await failure { try await bus.route("app://self/outer") }
        #expect((error?.cause as? RoutingError)?.code == .deadlock)
        #expect((error?.cause as? RoutingError)?.url == "app://self/inner")
        // The module handles messages again.
        let value: Int = try await bus.route("app://self/inner")
        #expect(value == 1)
    }

    @Test func `a serial module that calls itself through another module fails with deadlock`() async throws {
        let module = try self.module(.far)
        let bus = self.bus
        try bus.register("app://self/inner", on: module) { _, _ async in 1 }
        try bus.register("app://between") { [weak bus] _ -> Int in
            try await bus?.route("app://self/inner") ?? 0
        }
        try bus.register("app://self/outer", on: module) { [weak bus] _, _ -> Int in
            try await bus?.route("app://between") ?? 0
        }
        var error: (any Error)? = await failure { try await bus.route("app://self/outer") }
        var codes: [RoutingError.Code] = []
        while let inner = error as? RoutingError {
            codes.append(inner.code)
            error = inner.cause
        }
        #expect(codes == [.handlerFailed, .handlerFailed, .deadlock])
        #expect(await bus.settles())
    }

    @Test(arguments: Place.allCases, [false, true])
    func `a caller that calls a serial module awaiting its answer fails with deadlock`(
        place: Place,
        isThroughAnother: Bool
    ) async throws {
        let module = try self.module(place)
        let bus = self.bus
        try bus.register("app://inner", on: module) { _, _ in 1 }
        try bus.register("app://between") { [weak bus] _ -> Int in
            try await bus?.route("app://inner") ?? 0
        }
        try bus.register("app://ask", on: module) { _, message -> Int in
            try await message.reply(with: "how many?", expecting: Int.self)
        }
        let url = isThroughAnother ? "app://between" : "app://inner"
        let error = await failure {
            let _: Int = try await bus.route("app://ask") { (_: String) in
                try await bus.route(url, as: Int.self)
            }
        }
        var codes: [RoutingError.Code] = []
        var cause: (any Error)? = error
        while let inner = cause as? RoutingError {
            codes.append(inner.code)
            cause = inner.cause
        }
        #expect(codes.last == .deadlock, "\(codes)")
        // The module handles messages again, and the caller can call it.
        #expect(try await bus.route("app://inner", as: Int.self) == 1)
        #expect(await bus.settles())
    }

    @Test(arguments: Place.allCases)
    func `a serial module that waits for a slot in its own mailbox fails with deadlock`(
        place: Place
    ) async throws {
        let module = try self.module(
            place,
            MailboxConfiguration(limit: 2, whenFull: .suspend, isSerial: true)
        )
        let bus = self.bus
        try bus.register("app://self/inner", on: module) { module, _ in module.hear(1) }
        try bus.register("app://self/outer", on: module) { [weak bus] _, _ -> Int in
            for count in 0..<10 {
                do throws(RoutingError) {
                    try await bus?.enqueue("app://self/inner")
                } catch {
                    #expect(error.code == .deadlock && error.route == "app://self/inner")
                    return count
                }
            }
            return 10
        }
        #expect(try await bus.route("app://self/outer", as: Int.self) == 2)
        #expect(await bus.settles())
        #expect(await module.heard == [1, 1])
    }

    @Test func `a message abandoned by a middleware ends before the serial module starts the next`()
        async throws
    {
        let clock = ManualClock()
        let bus = MessageBus(clock: clock, configuration: .quiet)
        let module = try self.module(.far, on: bus)
        let steps = self.steps
        let (begun, held) = (Gate(), Gate())
        try bus.register("app://a/:n", on: module) { _, message in
            let number: Int = try message.parameters.require("n")
            steps.add("+\(number)")
            if number == 1 {
                begun.open()
                await held.wait()
            }
            steps.add("-\(number)")
        }
        try bus.use(TimeoutMiddleware(.milliseconds(10)), for: "app://a/1")
        bus.send("app://a/1")
        bus.send("app://a/2")
        await begun.wait()
        await clock.advance(by: .milliseconds(10))
        #expect(await eventually { bus.statistics.deadLettered == 1 })
        async let third: Void = bus.route("app://a/3")
        #expect(await eventually { bus.statistics.sent == 3 })
        #expect(steps.entries == ["+1"])
        held.open()
        try await third
        #expect(steps.entries == ["+1", "-1", "+2", "-2", "+3", "-3"])
    }

    @Test(arguments: [false, true])
    func `a retried attempt waits for the end of the first attempt`(isSent: Bool) async throws {
        let clock = ManualClock()
        let bus = MessageBus(clock: clock, configuration: .quiet)
        let module = try self.module(.near, on: bus)
        let (steps, begun, late) = (self.steps, Gate(), Gate())
        try bus.register("app://a", on: module) { _, _ -> Int in
            steps.add("begin")
            if steps.count == 1 {
                begun.open()
                await late.wait()
                steps.add("end")
                return 1
            }
            return 2
        }
        bus.use(
            try RetryMiddleware(
                idempotent: ["app://a"],
                attempts: 3,
                backoff: Backoff(first: .milliseconds(1)),
                codes: [.deadlineExceeded]
            )
        )
        bus.use(TimeoutMiddleware(.milliseconds(100)))
        let answer = isSent ? nil : Task { try await bus.route("app://a", as: Int.self) }
        if isSent { bus.send("app://a") }
        await begun.wait()
        await clock.waitForPending()
        await clock.advance(by: .milliseconds(100))
        // The clock does not see the task that begins the pause before the next attempt.
        await clock.waitForPending()
        await clock.advance(by: .milliseconds(30))
        #expect(steps.entries == ["begin"])
        late.open()
        let hasRetried = await eventually {
            await clock.advance(by: .milliseconds(1))
            return steps.entries == ["begin", "end", "begin"]
        }
        #expect(hasRetried)
        #expect(try await answer?.value ?? 2 == 2)
    }

    @Test func `a serial module can send itself a message`() async throws {
        let module = try self.module(.near)
        let bus = self.bus
        let steps = self.steps
        try bus.register("app://self/inner", on: module) { _, _ async in steps.add("inner") }
        try bus.register("app://self/outer", on: module) { [weak bus] _, _ in
            bus?.send("app://self/inner")
            await Task.yield()
            steps.add("outer")
        }
        try await bus.route("app://self/outer")
        #expect(await bus.settles())
        #expect(steps.entries == ["outer", "inner"])
    }

    @Test(arguments: Place.allCases, [false, true])
    func `deadline, cancellation and removal resume a caller behind a message that hangs`(
        place: Place,
        isSurrounded: Bool
    ) async throws {
        let module = try self.module(place)
        let bus = self.bus
        if isSurrounded { bus.use(Doing { .pass($0) }) }
        let (begun, held) = (Gate(), Gate())
        try bus.register("app://hang", on: module) { _, _ in
            begun.open()
            await held.wait()
        }
        let registration = try bus.register("app://next", on: module) { _, _ in }
        bus.send("app://hang")
        await begun.wait()
        let late = await failure { try await bus.route("app://next", deadline: .now + .milliseconds(5)) }
        #expect(late?.code == .deadlineExceeded)
        let cancelled = Task.immediate { await failure { try await bus.route("app://next") } }
        let removed = Task.immediate { await failure { try await bus.route("app://next") } }
        bus.send("app://next")
        #expect(bus.statistics.inFlight == 4)
        cancelled.cancel()
        #expect(await cancelled.value?.code == .cancelled)
        registration.cancel()
        #expect(await removed.value?.code == .noHandler)
        #expect(await eventually { bus.statistics.inFlight == 1 })
        #expect(bus.statistics.deadLettered == 2)
        held.open()
        #expect(await bus.settles())
    }

    @Test func `ten thousand messages that end at once need no deep stack`() async throws {
        let module = try self.module(.near, .init(limit: 20_000, isSerial: true))
        let steps = self.steps
        try self.bus.register("app://a/:n", on: module) { _, _ async in steps.add("a") }
        let bus = self.bus
        await Probe(eventLoop: self.bus.eventLoop).run {
            for number in 0..<10_000 { bus.send("app://a/\(number)") }
        }
        #expect(await bus.settles())
        #expect(steps.count == 10_000)
    }

    @Test(arguments: Place.allCases)
    func `a waiting caller gets its turn while senders drop earlier messages`(place: Place) async throws {
        let module = try self.module(place, .init(limit: 2, whenFull: .dropOldest, isSerial: true))
        let bus = self.bus
        try bus.register("app://slow", on: module) { _, _ in await Task.yield() }
        try bus.register("app://quick", on: module) { _, _ in }
        let count = Scale.of(2_000)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    await onThread { for _ in 0..<count { bus.send("app://slow") } }
                }
            }
            for _ in 0..<4 {
                group.addTask {
                    for number in 0..<count / 8 {
                        _ = await failure {
                            try await bus.route(number % 2 == 0 ? "app://slow" : "app://quick")
                        }
                    }
                }
            }
        }
        #expect(await bus.settles())
        #expect(bus.statistics.sent == 2 * count + 4 * (count / 8))
        // No earlier message is left in the queue before this one.
        try await bus.route("app://slow")
    }

    @Test func `unregistering waits only for messages sent before it`()
        async throws
    {
        let module = try self.module(.near)
        let bus = self.bus
        let steps = self.steps
        let (begun, held) = (Gate(), Gate())
        try bus.register("app://hang", on: module) { _, _ in
            begun.open()
            await held.wait()
        }
        try bus.register("app://stays/:n", on: module) { _, message in
            steps.add(message.parameters["n"] ?? "")
        }
        let leaving = try bus.register("app://leaves", on: module) { _, _ in }
        bus.send("app://hang")
        await begun.wait()
        let caller = Probe(eventLoop: bus.eventLoop)
        var waiting: [Task<Void, any Error>] = []
        for number in 0..<4 {
            for _ in 0..<3 { bus.send("app://leaves") }
            bus.send("app://stays/\(number)s")
            // `caller.run` returns after the message has been counted and has its place in the queue.
            waiting.append(
                Task { try await caller.run { try await bus.route("app://stays/\(number)r", as: Void.self) } }
            )
            #expect(await eventually { bus.statistics.sent == 1 + (number + 1) * 5 })
            await caller.run {}
        }
        leaving.cancel()
        #expect(await eventually { bus.statistics.deadLettered == 12 })
        bus.send("app://stays/last")
        held.open()
        for task in waiting { try await task.value }
        #expect(await bus.settles())
        #expect(steps.entries == (0..<4).flatMap { ["\($0)s", "\($0)r"] } + ["last"])
    }

    @Test func `the body of a loop over replies cannot call the serial module that awaits it`()
        async throws
    {
        let module = try self.module(.near)
        try self.bus.register("app://steps", on: module) { _, message in
            for step in 1...3 { await message.reply(with: step) }
        }
        try self.bus.register("app://other", on: module) { _, _ in 1 }
        let bus = self.bus
        try bus.register("app://indirect") { [weak bus] _ in try await bus?.route("app://other", as: Int.self)
        }
        var codes: [RoutingError.Code?] = []
        for try await reply in bus.replies(to: "app://steps") where !reply.isLast {
            codes.append(await failure { try await bus.route("app://other") }?.code)
            codes.append(await failure { try await bus.route("app://indirect") }?.rootCause.code)
        }
        #expect(codes == Array(repeating: .deadlock, count: 6))
        #expect(try await bus.route("app://other", as: Int.self) == 1)
    }

    @Test(arguments: Place.allCases)
    func `a task that outlives a serial handler waits for its turn`(place: Place) async throws {
        let module = try self.module(place)
        let (steps, bus) = (self.steps, self.bus)
        let begun = Gate()
        try bus.register("app://later", on: module) { _, _ in steps.add("later") }
        try bus.register("app://first", on: module) { [weak bus] _, _ in
            Task {
                begun.open()
                try await bus?.route("app://later")
                steps.add("task")
            }
            await begun.wait()
            for _ in 0..<100 { await Task.yield() }
            steps.add("first")
        }
        try await bus.route("app://first")
        #expect(await eventually { steps.count == 3 })
        #expect(steps.entries == ["first", "later", "task"])
    }

    @Test(.needsPrivateSymbol("swift_task_getJobFlags"), arguments: Place.allCases)
    func `a child task of a serial handler that calls its own module fails with deadlock`(
        place: Place
    ) async throws {
        let module = try self.module(place)
        let bus = self.bus
        try bus.register("app://later", on: module) { _, _ in 1 }
        try bus.register("app://first", on: module) { [weak bus] _, _ in
            async let answer = bus?.route("app://later", as: Int.self)
            return try await answer
        }
        #expect(await failure { try await bus.route("app://first") }?.rootCause.code == .deadlock)
    }

    @Test func `the configuration of a mailbox survives a registration that fails`() async throws {
        let bus = MessageBus(configuration: .quiet)
        let module = Probe(eventLoop: bus.eventLoop)
        try bus.configureMailbox(of: module, MailboxConfiguration(isSerial: true))
        try bus.register("app://taken") { _ in }
        let error = await failure { try bus.register("app://taken", on: module) { _, _ in } }
        #expect(error?.code == .conflict)
        try bus.register("app://inner", on: module) { _, _ in }
        try bus.register("app://outer", on: module) { [unowned bus] _, _ async throws in
            try await bus.route("app://inner")
        }
        #expect(await failure { try await bus.route("app://outer") }?.rootCause.code == .deadlock)
    }

    @Test func `a serial module can be registered again while its last message is in progress`() async throws
    {
        let bus = MessageBus(configuration: .quiet)
        let module = Probe(eventLoop: bus.eventLoop)
        let (started, end) = (Gate(), Gate())
        let heard = Journal<String>()
        try bus.configureMailbox(of: module, MailboxConfiguration(isSerial: true))
        let first = try bus.register("app://work", on: module) { _, _ async in
            started.open()
            await end.wait()
            heard.add("first")
        }
        async let unfinished = failure { try await bus.route("app://work") }
        await started.wait()
        first.cancel()
        #expect(await unfinished?.code == .noHandler)
        try bus.configureMailbox(of: module, MailboxConfiguration(isSerial: true))
        try bus.register("app://work", on: module) { _, _ in heard.add("second") }
        async let reply: Void = bus.route("app://work")
        #expect(await eventually { bus.statistics.inFlight == 1 })
        end.open()
        try await reply
        #expect(heard.entries == ["first", "second"])
    }

    @Test func `a closed bus releases a module whose mailbox is configured`() async throws {
        let bus = MessageBus(configuration: .quiet)
        weak var released: Probe?
        do {
            let module = Probe(eventLoop: bus.eventLoop)
            released = module
            try bus.configureMailbox(of: module, MailboxConfiguration(isSerial: true))
        }
        #expect(released != nil)
        await bus.shutDown()
        #expect(released == nil)
        let late = Probe(eventLoop: bus.eventLoop)
        let error = await failure { try bus.configureMailbox(of: late, MailboxConfiguration()) }
        #expect(error?.code == .shutDown)
    }
}
