import Testing
import Waybill
import WaybillEventLoop
import WaybillTestSupport

@Suite(.timeLimit(.minutes(1)))
struct MailboxTests {
    let bus = MessageBus(configuration: .small)
    let held = Gate()

    /// Blocks the bus's loop until ``held`` opens.
    private func hold() async throws {
        let begun = Gate()
        let held = self.held
        try self.bus.register("app://hold") { _ in
            begun.open()
            held.block()
        }
        self.bus.send("app://hold")
        await begun.wait()
    }

    @Test func `a message beyond the mailbox's limit is a dead letter`() async throws {
        let heard = Journal<Int>()
        try self.bus.register("app://a/:n") { heard.add(try $0.parameters.require("n")) }
        try await self.hold()
        for number in 0..<100 { self.bus.send("app://a/\(number)") }
        #expect(self.bus.statistics.deadLettered == 90)
        let error = await failure { try await self.bus.route("app://a/0") }
        #expect(error?.code == .mailboxFull && error?.url == "app://a/0")
        #expect(error?.message.contains("10") == true)
        let late = await failure { try await self.bus.route("app://a/0", deadline: .now + .seconds(60)) }
        #expect(late?.code == .mailboxFull)
        self.held.open()
        #expect(await self.bus.settles())
        #expect(heard.entries == Array(0..<10))
        #expect(self.bus.statistics.deadLettered == 92 && self.bus.statistics.replied == 11)
        try await self.bus.route("app://a/0")
    }

    @Test func `each module has its own mailbox`() async throws {
        let near = Probe(eventLoop: self.bus.eventLoop)
        try self.bus.register("app://a") { _ in }
        try self.bus.register("app://near/1", on: near) { $0.hear($1.parameters.query.count) }
        try self.bus.register("app://near/2", on: near) { $0.hear($1.parameters.query.count) }
        try await self.hold()
        for _ in 0..<10 { self.bus.send("app://a") }
        for _ in 0..<5 {
            self.bus.send("app://near/1")
            self.bus.send("app://near/2")
        }
        #expect(self.bus.statistics.deadLettered == 0)
        self.bus.send("app://near/2")
        #expect(self.bus.statistics.deadLettered == 1)
        self.held.open()
        #expect(await self.bus.settles())
        #expect(await near.heard.count == 10)
    }

    @Test func `a rejected message leaves no slot occupied`() async throws {
        try self.bus.register("app://a") { _ in }
        try await self.hold()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<50 { group.addTask { _ = await failure { try await self.bus.route("app://a") } } }
            #expect(await eventually { self.bus.statistics.deadLettered == 40 })
            self.held.open()
        }
        for _ in 0..<10 { self.bus.send("app://a") }
        #expect(await self.bus.settles())
        #expect(self.bus.statistics.deadLettered == 40)
    }

    @Test func `callers that give up free their slots when the loop continues`() async throws {
        try self.bus.register("app://a") { _ in await Task.yield() }
        try await self.hold()
        for _ in 0..<10 {
            let error = await failure {
                try await self.bus.route("app://a", deadline: .now + .milliseconds(1))
            }
            #expect(error?.code == .deadlineExceeded)
        }
        self.held.open()
        await Probe(eventLoop: self.bus.eventLoop).run {}
        for _ in 0..<10 { try await self.bus.route("app://a") }
    }

    @Test(arguments: [Int.min, -1, 0, 1, .max], [true, false])
    func `a mailbox accepts any limit`(limit: Int, isSerial: Bool) async throws {
        for overflow in [MailboxConfiguration.Overflow.fail, .suspend, .dropOldest] {
            let bus = MessageBus(configuration: .quiet)
            let module = Probe(eventLoop: EventLoop())
            try bus.configureMailbox(of: module, .init(limit: limit, whenFull: overflow, isSerial: isSerial))
            try bus.register("app://hear/:n", on: module) { module, message in
                module.hear(try message.parameters.require("n"))
            }
            #expect(try await bus.route("app://hear/1", as: Int.self) == 1)
            try await bus.enqueue("app://hear/2")
            #expect(await bus.settles())
            #expect(await module.heard == [1, 2])
        }
    }

    @Test(arguments: [Int.min, -1, 0, 1, .max])
    func `a bus accepts any limits`(limit: Int) async throws {
        var configuration = MessageBus.Configuration.quiet
        configuration.mailboxLimit = limit
        configuration.hopLimit = limit
        let bus = MessageBus(configuration: configuration)
        try bus.register("app://one") { _ in 1 }
        let code = await failure { try await bus.route("app://one", as: Int.self) }?.code
        // No message has fewer than zero hops, so a negative limit has the effect of zero.
        #expect(code == nil)
        let messages = try bus.subscription(to: "app://two", limit: limit)
        let (letters, trace) = (bus.deadLetters(limit: limit), try bus.trace(bufferLimit: limit))
        try await bus.publish("app://two")
        bus.send("app://nothing")
        #expect(await messages.first { _ in true } != nil)
        #expect(await letters.first { _ in true } != nil)
        #expect(await trace.first { _ in true } != nil)
    }
}

extension MessageBus.Configuration {
    fileprivate static var small: Self {
        var configuration = Self.quiet
        configuration.mailboxLimit = 10
        return configuration
    }
}
