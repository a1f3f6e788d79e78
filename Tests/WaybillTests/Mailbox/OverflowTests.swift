import Testing
import Waybill
import WaybillEventLoop
import WaybillTestSupport
import WaybillTesting

/// Messages to a full mailbox.
@Suite(.timeLimit(.minutes(1)))
struct OverflowTests {
    let bus = MessageBus(configuration: .quiet)
    let heard = Journal<Int>()
    let begun = Gate()
    let held = Gate()

    private func module(_ configuration: MailboxConfiguration, on bus: MessageBus? = nil) throws -> Probe {
        let module = Probe(eventLoop: EventLoop())
        let bus = bus ?? self.bus
        try bus.configureMailbox(of: module, configuration)
        let heard = self.heard
        try bus.register("app://a/:n", on: module) { _, message -> Int in
            let number: Int = try message.parameters.require("n")
            heard.add(number)
            return number
        }
        let (begun, held) = (self.begun, self.held)
        // The handler of a serial module waits without blocking its loop. Any other handler blocks its loop.
        if configuration.isSerial {
            try bus.register("app://hold", on: module) { _, _ in
                begun.open()
                await held.wait()
            }
        } else {
            try bus.register("app://hold", on: module) { _, _ in
                begun.open()
                held.block()
            }
        }
        return module
    }

    /// Routes messages one after the other, each with a deadline that it exceeds.
    private func expire(_ count: Int) async {
        for number in 0..<count {
            let error = await failure {
                try await self.bus.route("app://a/\(number)", deadline: .now + .milliseconds(5))
            }
            #expect(error?.code == .deadlineExceeded)
        }
    }

    private func hold() async {
        self.bus.send("app://hold")
        await self.begun.wait()
    }

    @Test(arguments: [false, true])
    func `a full mailbox with dropOldest drops its oldest messages`(isSerial: Bool) async throws {
        _ = try self.module(.init(limit: 10, whenFull: .dropOldest, isSerial: isSerial))
        await self.hold()
        for number in 0..<100 { self.bus.send("app://a/\(number)") }
        self.held.open()
        #expect(await self.bus.settles())
        #expect(self.heard.entries == Array(90..<100))
        #expect(self.bus.statistics.deadLettered == 90)
        #expect(self.bus.statistics.replied == 11)
    }

    @Test(arguments: [false, true])
    func `a caller whose message is dropped receives mailboxFull`(isSerial: Bool) async throws {
        _ = try self.module(.init(limit: 2, whenFull: .dropOldest, isSerial: isSerial))
        await self.hold()
        let bus = self.bus
        // Each caller has enqueued its message before the next one begins.
        let callers = (0..<3).map { number in
            Task.immediate { await failure { try await bus.route("app://a/\(number)") } }
        }
        self.held.open()
        let oldest = await callers[0].value
        #expect(oldest?.code == .mailboxFull && oldest?.url == "app://a/0")
        for caller in callers.dropFirst() { #expect(await caller.value == nil) }
        #expect(await bus.settles())
        #expect(self.heard.entries == [1, 2])
    }

    @Test(arguments: [false, true])
    func `a sender to a full mailbox with suspend waits, and no message is lost`(isSerial: Bool) async throws
    {
        _ = try self.module(.init(limit: 4, whenFull: .suspend, isSerial: isSerial))
        await self.hold()
        let bus = self.bus
        let senders = Task {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for sender in 0..<5 {
                    group.addTask {
                        for number in 0..<50 { try await bus.enqueue("app://a/\(sender * 100 + number)") }
                    }
                }
                try await group.waitForAll()
            }
        }
        // Four messages are in the mailbox, one is in progress, and each sender waits with one more.
        #expect(await eventually { bus.statistics.inFlight == 10 })
        #expect(self.heard.count == 0)
        self.held.open()
        try await senders.value
        #expect(await bus.settles())
        #expect(bus.statistics.deadLettered == 0)
        let heard = self.heard.entries
        #expect(heard.count == 250)
        for sender in 0..<5 {
            #expect(heard.filter { $0 / 100 == sender } == (0..<50).map { sender * 100 + $0 })
        }
    }

    @Test func `senders that wait for a full mailbox are served in turn`() async throws {
        let module = Probe(eventLoop: EventLoop())
        try self.bus.configureMailbox(of: module, .init(limit: 1, whenFull: .suspend, isSerial: true))
        let (heard, held) = (self.heard, self.held)
        try self.bus.register("app://hold", on: module) { _, _ in await held.wait() }
        try self.bus.register("app://a/:n", on: module) { _, message in
            let number: Int = try message.parameters.require("n")
            for _ in 0..<3 { await Task.yield() }
            heard.add(number)
        }
        let bus = self.bus
        bus.send("app://hold")
        // All senders are on one loop, because the system may suspend a thread of the global pool while the
        // others send.
        let senders = Probe(eventLoop: EventLoop())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for sender in 0..<4 {
                group.addTask {
                    try await senders.run { for _ in 0..<50 { try await bus.enqueue("app://a/\(sender)") } }
                }
            }
            // One message is held, one is in the mailbox, and each of the four senders waits.
            #expect(await eventually { bus.statistics.inFlight == 6 })
            held.open()
            try await group.waitForAll()
        }
        #expect(await bus.settles())
        // While all four senders send, none of them gets far ahead of the others.
        var counts = [0, 0, 0, 0]
        var widest = 0
        for sender in heard.entries {
            counts[sender] += 1
            let open = counts.filter { $0 < 50 }
            if open.count == 4, counts.min() ?? 0 > 3 {
                widest = max(widest, (counts.max() ?? 0) - (counts.min() ?? 0))
            }
        }
        #expect(counts == [50, 50, 50, 50])
        #expect(widest <= 8, "one sender was \(widest) messages ahead")
    }

    @Test(arguments: [false, true])
    func `callers in a loop leave slots to waiting senders`(isSerial: Bool) async throws {
        let module = Probe(eventLoop: EventLoop())
        try self.bus.configureMailbox(of: module, .init(limit: 1, whenFull: .suspend, isSerial: isSerial))
        try self.bus.register("app://a", on: module) { _, _ in await Task.yield() }
        let (bus, heard) = (self.bus, self.heard)
        try bus.register("app://b/:n", on: module) { _, message in
            heard.add(try message.parameters.require("n"))
        }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<16 {
                group.addTask {
                    while !Task.isCancelled { _ = await failure { try await bus.route("app://a") } }
                }
            }
            #expect(await eventually { bus.statistics.replied > 100 })
            for number in 0..<50 {
                #expect(await failure { try await bus.enqueue("app://b/\(number)") } == nil)
            }
            group.cancelAll()
        }
        #expect(await bus.settles())
        #expect(heard.entries == Array(0..<50))
    }

    @Test func `a waiting sender is not forgotten while others find the mailbox full`() async throws {
        let module = Probe(eventLoop: EventLoop())
        let bus = self.bus
        try bus.configureMailbox(of: module, .init(limit: 0, whenFull: .suspend, isSerial: true))
        let gates = Locked((Gate(), Gate()))
        let isOver = Journal<Bool>()
        try bus.register("app://hold", on: module) { _, _ in
            let (begun, held) = gates.withLock { $0 }
            begun.open()
            await held.wait()
            isOver.add(true)
        }
        try bus.register("app://a", on: module) { _, _ in }
        for round in 1...Scale.of(400) {
            let (begun, held) = (Gate(), Gate())
            gates.withLock { $0 = (begun, held) }
            bus.send("app://hold")
            await begun.wait()
            let sender = Task { await failure { try await bus.enqueue("app://a") } }
            #expect(await eventually { bus.statistics.inFlight == 2 })
            await onThread {
                held.open()
                while isOver.count < round { bus.send("app://a") }
                for _ in 0..<Int.random(in: 0..<12) { bus.send("app://a") }
            }
            guard await eventually({ bus.statistics.inFlight == 0 }) else {
                Issue.record("round \(round): nobody is before the sender: \(bus.statistics)")
                return sender.cancel()
            }
            #expect(await sender.value == nil)
        }
    }

    @Test func `a sender that waits for a slot resumes at its deadline`() async throws {
        let clock = ManualClock()
        let bus = MessageBus(clock: clock, configuration: .quiet)
        _ = try self.module(.init(limit: 1, whenFull: .suspend, isSerial: true), on: bus)
        bus.send("app://hold")
        await self.begun.wait()
        bus.send("app://a/1")
        try bus.register("app://asks") { [weak bus] _ in try await bus?.enqueue("app://a/2") }
        async let error = failure {
            try await bus.route("app://asks", deadline: clock.now + .milliseconds(20))
        }
        #expect(await eventually { bus.statistics.inFlight == 4 })
        await clock.advance(by: .milliseconds(20))
        #expect(await error?.code == .deadlineExceeded)
        #expect(await eventually { bus.statistics.expired == 2 })
        self.held.open()
        #expect(await bus.settles())
        #expect(self.heard.entries == [1])
    }

    @Test(arguments: [false, true])
    func `a return leg to its own module gets the slot of the message that has ended`(
        isSurrounded: Bool
    ) async throws {
        let module = try self.module(.init(limit: 0, isSerial: true))
        if isSurrounded { self.bus.use(FilterMiddleware { _ in true }) }
        try self.bus.register("app://now", on: module) { _, _ in }
        try self.bus.register("app://later", on: module) { _, _ in await Task.yield() }
        for round in 0..<100 {
            self.bus.send("app://now#app://a/\(2 * round)")
            #expect(await self.bus.settles())
            self.bus.send("app://later#app://a/\(2 * round + 1)")
            #expect(await self.bus.settles())
        }
        #expect(self.heard.entries == Array(0..<200))
    }

    @Test func `a mailbox with the limit 0 accepts messages that can be handled immediately`() async throws {
        _ = try self.module(.init(limit: 0, whenFull: .suspend))
        try await self.bus.enqueue("app://a/1")
        #expect(await self.bus.settles())
        #expect(self.heard.entries == [1])
    }

    @Test(arguments: [false, true])
    func `an expired caller makes room in a full mailbox, and no message is dropped for it`(
        isSerial: Bool
    ) async throws {
        _ = try self.module(.init(limit: 2, whenFull: .dropOldest, isSerial: isSerial))
        await self.hold()
        let bus = self.bus
        await self.expire(6)
        self.held.open()
        #expect(await bus.settles())
        for number in 6..<12 { #expect(await failure { try await bus.route("app://a/\(number)") } == nil) }
        #expect(self.heard.entries == Array(6..<12))
    }

    @Test func `an expired sender holds no place in the queue of a serial module`() async throws {
        _ = try self.module(.init(limit: 2, isSerial: true))
        await self.hold()
        let bus = self.bus
        await self.expire(6)
        async let last: Int = bus.route("app://a/6")
        #expect(await eventually { bus.statistics.sent == 8 })
        self.held.open()
        #expect(try await last == 6)
        #expect(self.heard.entries == [6])
    }

    @Test func `a sent message that cannot wait is a dead letter`() async throws {
        _ = try self.module(.init(limit: 4, whenFull: .suspend))
        await self.hold()
        for number in 0..<6 { self.bus.send("app://a/\(number)") }
        #expect(self.bus.statistics.deadLettered == 2)
        self.held.open()
        #expect(await self.bus.settles())
        #expect(self.heard.entries == [0, 1, 2, 3])
    }

    @Test(arguments: [false, true])
    func `a full mailbox with suspend does not reject callers that await a reply`(isSerial: Bool) async throws
    {
        _ = try self.module(.init(limit: 1, whenFull: .suspend, isSerial: isSerial))
        await self.hold()
        let bus = self.bus
        let answers = Task {
            try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<20 { group.addTask { try await bus.route("app://a/\(number)") } }
                return try await group.reduce(0, +)
            }
        }
        #expect(await eventually { bus.statistics.inFlight == 21 })
        self.held.open()
        #expect(try await answers.value == 190)
    }

    @Test func `cancellation, removal and shutdown each resume a waiting sender`() async throws {
        let module = try self.module(.init(limit: 1, whenFull: .suspend, isSerial: true))
        let registration = try self.bus.register("app://b", on: module) { _, _ in }
        await self.hold()
        let bus = self.bus
        try await bus.enqueue("app://a/1")
        let cancelled = Task.immediate { await failure { try await bus.enqueue("app://a/2") } }
        let removed = Task.immediate { await failure { try await bus.enqueue("app://b") } }
        let shutDown = Task.immediate { await failure { try await bus.enqueue("app://a/3") } }
        #expect(bus.statistics.inFlight == 5)
        cancelled.cancel()
        #expect(await cancelled.value?.code == .cancelled)
        registration.cancel()
        #expect(await removed.value?.code == .noHandler)
        await bus.shutDown(drainingUntil: .now)
        #expect(await shutDown.value?.code == .shutDown)
        self.held.open()
        #expect(await bus.settles())
    }

    @Test func `a mailbox must be configured before it is used`() async throws {
        let module = Probe(eventLoop: self.bus.eventLoop)
        try self.bus.register("app://a", on: module) { _, _ in }
        let error = #expect(throws: RoutingError.self) {
            try self.bus.configureMailbox(of: module, .init(isSerial: true))
        }
        #expect(error?.code == .conflict && error?.message.contains("Probe") == true)
        self.bus.unregister("app://a")
        try self.bus.configureMailbox(of: module, .init(isSerial: true))
    }

    @Test func `a module can have its own mailbox limit`() async throws {
        _ = try self.module(.init(limit: 3))
        await self.hold()
        for number in 0..<5 { self.bus.send("app://a/\(number)") }
        #expect(self.bus.statistics.deadLettered == 2)
        self.held.open()
        #expect(await self.bus.settles())
        #expect(self.heard.entries == [0, 1, 2])
    }
}
