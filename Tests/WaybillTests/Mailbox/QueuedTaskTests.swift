import Testing
import WaybillEventLoop
import WaybillTestSupport

@testable import Waybill

/// Awaited messages that wait for a handler on another loop.
@Suite(.timeLimit(.minutes(2)))
struct QueuedTaskTests {
    private let bus: MessageBus
    private let far = Probe(eventLoop: EventLoop())
    private let begun = Gate()
    private let held = Gate()

    init() {
        var configuration = MessageBus.Configuration.quiet
        configuration.mailboxLimit = 100_000
        self.bus = MessageBus(configuration: configuration)
    }

    /// Blocks the other loop until the gate is opened.
    private func hold() async throws {
        try self.bus.register("app://hold", on: self.far) { [begun, held] _, _ in
            begun.open()
            held.block()
        }
        self.bus.send("app://hold")
        await self.begun.wait()
    }

    /// Registers a handler of each kind.
    ///
    /// - Returns: The numbers of the messages that the handlers receive.
    private func listen() throws -> Journal<Int> {
        let heard = Journal<Int>()
        try self.bus.register("app://async/:n", on: self.far) { _, message in
            heard.add(try message.parameters.require("n"))
            await Task.yield()
        }
        try self.bus.register("app://sync/:n", on: self.far) { _, message in
            heard.add(try message.parameters.require("n"))
        }
        return heard
    }

    /// Routes a URL in a task that begins at once.
    private func route(
        _ url: String,
        by deadline: ContinuousClock.Instant? = nil
    ) -> Task<RoutingError?, Never> {
        Task.immediate { [bus] in await failure { try await bus.route(url, deadline: deadline) } }
    }

    @Test(arguments: [false, true])
    func `messages of every kind are handled in the order of their sender`(isSerial: Bool) async throws {
        if isSerial {
            try self.bus.configureMailbox(of: self.far, MailboxConfiguration(limit: 1_000, isSerial: true))
        }
        let heard = try self.listen()
        try await self.hold()
        var tasks: [Task<RoutingError?, Never>] = []
        for number in 0..<200 {
            switch number % 5 {
            case 0: tasks.append(self.route("app://async/\(number)"))
            case 1: self.bus.send("app://sync/\(number)")
            case 2: tasks.append(self.route("app://sync/\(number)"))
            case 3: self.bus.send("app://async/\(number)")
            default: tasks.append(self.route("app://sync/\(number)", by: .now + .seconds(60)))
            }
        }
        self.held.open()
        for task in tasks { #expect(await task.value == nil) }
        #expect(await self.bus.settles())
        #expect(heard.entries == Array(0..<200))
    }

    @Test(arguments: ["async", "sync"])
    func `an awaited message is not overtaken while the loop drains`(kind: String) async throws {
        let heard = try self.listen()
        let rounds = Scale.of(5_000)
        for round in 0..<rounds {
            let first = self.route("app://\(kind)/\(2 * round)")
            self.bus.send("app://sync/\(2 * round + 1)")
            #expect(await first.value == nil)
        }
        #expect(await self.bus.settles())
        #expect(heard.entries == Array(0..<2 * rounds))
    }

    @Test func `a caller that is cancelled on its way into the queue resumes`() async throws {
        try self.bus.register("app://call", on: self.far) { _, _ in }
        try await self.hold()
        for _ in 0..<Scale.of(2_000) {
            // The caller begins on another thread, at the same time as its cancellation.
            let caller = Task.detached { [bus] in await failure { try await bus.route("app://call") } }
            caller.cancel()
            #expect(await caller.value?.code == .cancelled)
        }
        #expect(self.bus.core.mailbox(of: self.far).waiting == 0)
        self.held.open()
        #expect(await self.bus.settles())
    }

    @Test func `a full mailbox admits as many concurrent callers as its limit allows`() async throws {
        try self.bus.configureMailbox(of: self.far, MailboxConfiguration(limit: 10, whenFull: .fail))
        try self.bus.register("app://call", on: self.far) { _, _ in }
        try await self.hold()
        let bus = self.bus
        let refused = Journal<RoutingError.Code>()
        async let codes = withTaskGroup(of: RoutingError.Code?.self) { group in
            for _ in 0..<200 {
                group.addTask {
                    let code = await failure { try await bus.route("app://call") }?.code
                    if let code { refused.add(code) }
                    return code
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(await eventually { refused.entries.count == 190 })
        self.held.open()
        #expect(await codes.filter { $0 == nil }.count == 10)
        #expect(refused.entries.allSatisfy { $0 == .mailboxFull })
        #expect(await bus.settles())
    }

    @Test(arguments: [false, true])
    func `a handler is not called once its caller has resumed`(hasDeadline: Bool) async throws {
        let (begunAgain, heldAgain) = (Gate(), Gate())
        try self.bus.register("app://hold/again", on: self.far) { _, _ in
            begunAgain.open()
            heldAgain.block()
        }
        let called = Journal<Int>()
        try self.bus.register("app://call", on: self.far) { _, _ in called.add(1) }
        try await self.hold()
        let caller = self.route("app://call", by: hasDeadline ? .now + .seconds(60) : nil)
        self.bus.send("app://hold/again")
        self.held.open()
        await begunAgain.wait()
        // The handler has either been called, or the caller was cancelled while it waited, but not both.
        let before = called.entries
        caller.cancel()
        let error = await caller.value
        heldAgain.open()
        #expect(await self.bus.settles())
        #expect(error == nil ? before == [1] : called.entries == [])
    }

    @Test(.needsPrivateSymbol("swift_task_enqueue"), arguments: ["unregistered", "dropped"])
    func `a handler whose own call is rejected continues on its loop`(how: String) async throws {
        try self.bus.configureMailbox(of: self.far, MailboxConfiguration(limit: 1, whenFull: .dropOldest))
        let inner = try self.bus.register("app://inner", on: self.far) { _, _ in }
        let places = Journal<Bool>()
        let loop = self.bus.eventLoop
        // A closure with a capture list runs on its loop only by an executor preference.
        try self.bus.register("app://outer") { [places, bus] _ in
            places.add(loop.isInEventLoop)
            _ = await failure { try await bus.route("app://inner") }
            places.add(loop.isInEventLoop)
        }
        try await self.hold()
        let outer = self.route("app://outer")
        let mailbox = self.bus.core.mailbox(of: self.far)
        #expect(await eventually { mailbox.waiting == 1 })
        if how == "dropped" { self.bus.send("app://inner") } else { inner.cancel() }
        #expect(await outer.value == nil)
        self.held.open()
        #expect(await self.bus.settles())
        #expect(places.entries == [true, true])
    }

    @Test(arguments: ["async", "sync"], [false, true])
    func `many callers are resumed at once`(kind: String, areCancelled: Bool) async throws {
        try await self.hold()
        func timeToResume(_ count: Int) async throws -> Duration {
            let url = "app://call/\(count)"
            let registration =
                kind == "async"
                ? try self.bus.register(url, on: self.far) { _, _ in await Task.yield() }
                : try self.bus.register(url, on: self.far) { _, _ in }
            let callers = (0..<count).map { _ in self.route(url) }
            let start = ContinuousClock.now
            if areCancelled {
                for caller in callers.reversed() { caller.cancel() }
            } else {
                registration.cancel()
            }
            for caller in callers {
                #expect(await caller.value?.code == (areCancelled ? .cancelled : .noHandler))
            }
            return ContinuousClock.now - start
        }
        let few = try await timeToResume(Scale.of(1_000))
        let many = try await timeToResume(Scale.of(10_000))
        // Searching all messages for each caller would take at least three seconds, and a hundred times as
        // long for ten times the callers.
        #expect(many < max(Scale.whileQuick, few * 40), "\(few), \(many)")
        self.held.open()
        #expect(await self.bus.settles())
    }
}
