import Testing
import Waybill
import WaybillEventLoop
import WaybillTestSupport

/// A handler that shuts its bus down is not awaited by the shutdown.
@Suite(.timeLimit(.minutes(1)), .everyHost)
struct ShutDownInHandlerTests {
    let bus = MessageBus.onHost()

    enum Quitter: CaseIterable, Sendable { case routed, sent, below, published, reader, task }

    @Test(arguments: Quitter.allCases)
    func `a handler can shut its bus down, and the shutdown does not wait for the handler`(
        quitter: Quitter
    ) async throws {
        let bus = self.bus
        let summaries = Journal<[Int]>()
        let others = Journal<Int>()
        let begun = Gate()
        try bus.register("app://other") { _ in
            begun.open()
            try await Task.sleep(for: .milliseconds(20))
            others.add(1)
        }
        let quit: @Sendable (Message) async throws -> Int = { [weak bus] _ in
            guard let bus else { return 0 }
            if quitter == .task {
                Task { summaries.add(await bus.shutDown(drainingUntil: .now + .seconds(3600)).counts) }
                #expect(await bus.closes())
                return 42
            }
            summaries.add(await bus.shutDown(drainingUntil: .now + .seconds(3600)).counts)
            #expect(!Task.isCancelled)
            return 42
        }
        try bus.register("app://quit", quit)
        try bus.subscribe("app://quit") { _ = try await quit($0) }
        try bus.register("app://outer") { [weak bus] _ in
            switch quitter {
            case .published: try await bus?.publish("app://quit") == 1 ? 42 : 0
            case .reader:
                try await bus?.replies(to: "app://quit").reduce(0) { (try? $1.value(as: Int.self)) ?? $0 }
                    ?? 0
            default: try await bus?.route("app://quit", as: Int.self) ?? 0
            }
        }
        bus.send("app://other")
        await begun.wait()
        switch quitter {
        case .sent: bus.send("app://quit")
        case .routed, .task: #expect(try await bus.route("app://quit", as: Int.self) == 42)
        default: #expect(try await bus.route("app://outer", as: Int.self) == 42)
        }
        #expect(await eventually { summaries.count == 1 })
        #expect(others.entries == [1])
        #expect(await bus.settles())
        let sent = [.routed, .sent, .task].contains(quitter) ? 2 : 3
        #expect(bus.statistics.sent == sent && bus.statistics.replied == sent)
        #expect(await failure { try await bus.route("app://quit") }?.code == .shutDown)
    }

    @Test(arguments: [true, false])
    func `a handler that has shut its bus down and does not reply fails at the deadline`(
        isDropped: Bool
    )
        async throws
    {
        let cancelled = Gate()
        let loop = EventLoop()
        var bus: MessageBus? = MessageBus(eventLoop: loop, configuration: .quiet)
        let wait: Duration = isDropped ? .seconds(3600) : Scale.whileQuick / 4
        let done = Gate()
        try bus?.register("app://quit") { [weak bus] _ in
            await bus?.shutDown(drainingUntil: .now + wait)
            done.open()
            await withTaskCancellationHandler {
                await cancelled.wait()
            } onCancel: {
                cancelled.open()
            }
        }
        // The sequence retains the core of the bus, but not the bus.
        let replies = bus?.replies(to: "app://quit")
        let reader = Task { await failure { if let replies { for try await _ in replies {} } } }
        await done.wait()
        if isDropped { bus = nil }
        #expect(await reader.value?.code == .shutDown)
        await cancelled.wait()
        withExtendedLifetime(bus) {}
    }

    @Test func `a second shutdown does not wait for a handler that has shut the bus down`() async throws {
        let bus = self.bus
        let done = Gate()
        let never = Gate()
        try bus.register("app://quit") { [weak bus] _ in
            await bus?.shutDown(drainingUntil: .now + .seconds(3600))
            done.open()
            await never.wait()
        }
        async let error = failure { try await bus.route("app://quit") }
        await done.wait()
        #expect(await bus.shutDown().counts == [0, 1])
        #expect(await error?.code == .shutDown)
        #expect(bus.statistics.inFlight == 0)
        never.open()
    }

    @Test func `two handlers that shut the bus down do not wait for each other`() async throws {
        let bus = self.bus
        let both = Journal<Int>()
        try bus.register("app://quit/:n") { [weak bus] message in
            both.add(1)
            #expect(await eventually { both.count == 2 })
            await bus?.shutDown(drainingUntil: .now + .seconds(3600))
            // A second shutdown changes nothing, and returns at once.
            await bus?.shutDown(drainingUntil: .now + .seconds(3600))
            return 42
        }
        async let first: Int = bus.route("app://quit/1")
        async let second: Int = bus.route("app://quit/2")
        #expect(try await [first, second] == [42, 42])
        #expect(bus.statistics.replied == 2 && bus.statistics.inFlight == 0)
    }

    @Test func `the body of a loop over replies can shut the bus down`() async throws {
        let bus = MessageBus.onHost()
        try bus.register("app://steps") { message in
            for step in 1...3 { await message.reply(with: step) }
            return "done"
        }
        var summaries: [DrainSummary] = []
        var last: String?
        for try await reply in bus.replies(to: "app://steps") {
            if reply.isLast { last = try reply.value(as: String.self) }
            guard summaries.isEmpty else { continue }
            // Without an exception for this loop, the handler would wait for this loop and the shutdown for
            // the handler, until the deadline.
            summaries.append(await bus.shutDown(drainingUntil: .now + .seconds(30)))
        }
        #expect(summaries.map(\.abandoned) == [0])
        #expect(last == "done")
    }

    @Test func `a handler that shuts another bus down keeps its message`() async throws {
        let (bus, other) = (self.bus, MessageBus.onHost())
        let (begun, gate) = (Gate(), Gate())
        try other.register("app://slow") { _ in
            begun.open()
            await gate.wait()
        }
        let abandoned = Journal<Int>()
        try bus.register("app://owner/:wait") { message in
            let wait: Int = try message.parameters.require("wait")
            let opening = Task {
                #expect(await other.closes())
                gate.open()
            }
            defer { opening.cancel() }
            // The message may have ended before the shutdown counts the messages in flight.
            abandoned.add(await other.shutDown(drainingFor: .seconds(wait)).abandoned)
            #expect(!Task.isCancelled)
            return 42
        }
        other.send("app://slow")
        await begun.wait()
        #expect(try await bus.route("app://owner/3600", as: Int.self) == 42)
        #expect(try await bus.route("app://owner/0", as: Int.self) == 42)
        #expect(abandoned.entries == [0, 0])
        #expect(bus.statistics.replied == 2)
    }

    // The handler of the outer message waits for two child tasks.
    @Test(.needsPrivateSymbol("swift_task_getJobFlags"))
    func `a shutdown in two handlers waits for messages of others`() async throws {
        let bus = self.bus
        let (begun, gate) = (Gate(), Gate())
        let both = Journal<Int>()
        try bus.register("app://other") { _ in
            begun.open()
            await gate.wait()
            return 1
        }
        try bus.register("app://quit/:n") { [weak bus] message in
            both.add(1)
            #expect(await eventually { both.count == 2 })
            return await bus?.shutDown(drainingUntil: .now + .seconds(3600)).abandoned ?? -1
        }
        // The message of this handler is exempt because of both handlers.
        try bus.register("app://outer") { [weak bus] _ async throws -> [Int] in
            guard let bus else { return [] }
            async let first: Int = bus.route("app://quit/1")
            async let second: Int = bus.route("app://quit/2")
            return try await [first, second]
        }
        async let other: Int = bus.route("app://other")
        await begun.wait()
        async let outer: [Int] = bus.route("app://outer")
        #expect(await bus.closes())
        try await Task.sleep(for: .milliseconds(20))
        gate.open()
        #expect(try await other == 1)
        #expect(try await outer == [0, 0])
    }

    @Test func `a handler that shuts its bus down before it suspends is cancelled`() async throws {
        let bus = MessageBus(configuration: .quiet)
        let cancelled = Gate()
        // A closure with a capture list would change its executor, and would suspend for that.
        try bus.register("app://quit") { _ async in
            await bus.shutDown()
            await withTaskCancellationHandler {
                await cancelled.wait()
            } onCancel: {
                cancelled.open()
            }
        }
        // A message from the loop of the handler begins in the call that routes it.
        try bus.register("app://outer") { _ async throws in try await bus.route("app://quit") }
        #expect(await failure { try await bus.route("app://outer") }?.code == .shutDown)
        await cancelled.wait()
    }
}
