import Testing
import Waybill
import WaybillEventLoop
import WaybillRouting
import WaybillTestSupport
import WaybillTesting

/// A connector receives its messages in the same ways as a handler.
@Suite(.timeLimit(.minutes(1)))
struct ConnectorDeliveryTests {
    let bus = MessageBus(configuration: .quiet)

    struct Trouble: Error {}

    @Test func `a connector's refusal is distinct from other failures`() async throws {
        var guarded = StubConnector { _ in throw Trouble() }
        guarded.passes = { message in
            await Task.yield()
            guard message.headers["user"] != nil else { throw RoutingError.refused("nobody is signed in") }
        }
        try self.bus.connect("memo", to: guarded)
        let refused = try #require(await failure { try await self.bus.route("memo://a") })
        #expect(refused.code == .refused && refused.message == "nobody is signed in")
        #expect(refused.url == "memo://a" && refused.cause == nil)
        let failed = try #require(
            await failure { try await self.bus.route("memo://a", headers: ["user": "7"]) }
        )
        #expect(failed.code == .handlerFailed && failed.cause is Trouble)
        #expect(self.bus.statistics.failed == 2)
    }

    @Test func `a connector's error about the message passes, and one about another URL is its failure`()
        async throws
    {
        try self.bus.connect(
            "memo",
            to: StubConnector { message in
                let isOwn = message.address.segments.isEmpty
                throw RoutingError(
                    .unreachable,
                    url: isOwn ? message.address.text : "else://where",
                    message: "nobody there"
                )
            }
        )
        #expect(await failure { try await self.bus.route("memo:") }?.code == .unreachable)
        #expect(await failure { try await self.bus.route("memo://a") }?.code == .handlerFailed)
    }

    @Test func `a connector's progress replies arrive in order before its last reply`() async throws {
        try self.bus.connect(
            "memo",
            to: StubConnector { message in
                for part in 1...5 { await message.reply(with: part) }
                return "done"
            }
        )
        var parts: [Int] = []
        let end: String = try await self.bus.route("memo://a") { (part: Int) in parts.append(part) }
        #expect(parts == [1, 2, 3, 4, 5] && end == "done")
        var values: [String] = []
        for try await reply in self.bus.replies(to: "memo://a") { values.append("\(reply.value)") }
        #expect(values == ["1", "2", "3", "4", "5", "done"])
    }

    @Test func `a deadline cancels a connector's work`() async throws {
        let clock = ManualClock()
        let bus = MessageBus(clock: clock, configuration: .quiet)
        let (started, cancelled) = (Gate(), Gate())
        try bus.connect(
            "memo",
            to: StubConnector { _ in
                started.open()
                defer { cancelled.open() }
                try await hang()
                return ()
            }
        )
        async let error = failure {
            try await bus.route("memo://a", deadline: clock.now + .milliseconds(20))
        }
        await started.wait()
        await clock.advance(by: .milliseconds(20))
        #expect(await error?.code == .deadlineExceeded)
        await cancelled.wait()
        #expect(bus.statistics.expired == 1)
    }

    @Test(arguments: [true, false])
    func `cancelling the caller cancels the connector, also in willRoute`(
        isAsked: Bool
    ) async throws {
        let started = Gate()
        let cancelled = Gate()
        let wait: @Sendable (Message) async throws -> Void = { _ in
            started.open()
            defer { cancelled.open() }
            try await hang()
        }
        var connector = StubConnector { message in try await wait(message) }
        if isAsked { connector.passes = wait }
        try self.bus.connect("memo", to: connector)
        let caller = Task { [bus] in await failure { try await bus.route("memo://a") } }
        await started.wait()
        caller.cancel()
        #expect(await caller.value?.code == .cancelled)
        await cancelled.wait()
    }

    enum End: CaseIterable { case replaced, disconnected, unregistered, shutDown, dropped }

    @Test(arguments: End.allCases)
    func `callers that wait for a connector fail at once when it is removed`(end: End) async throws {
        let started = Gate()
        var bus: MessageBus? = MessageBus(configuration: .quiet)
        let registration = try bus?.connect(
            "memo",
            to: StubConnector { _ in
                started.open()
                try await hang()
                return ()
            }
        )
        let replies = try #require(bus).replies(to: "memo://a")
        let caller = Task { await failure { for try await _ in replies {} } }
        await started.wait()
        switch end {
        case .replaced: try bus?.connect("memo", to: ConnectorTests.mirror)
        case .disconnected: registration?.cancel()
        case .unregistered: bus?.unregister(scheme: "memo")
        case .shutDown: await bus?.shutDown()
        case .dropped: bus = nil
        }
        let isEnd = end == .shutDown || end == .dropped
        #expect(await caller.value?.code == (isEnd ? .shutDown : .noHandler))
        #expect(bus?.canRoute("memo://a") ?? false == (end == .replaced))
        if end == .replaced {
            // Cancelling a replaced registration late has no effect on its successor.
            registration?.cancel()
            #expect(try await bus?.route("memo://a", as: String.self) == "memo://a")
        }
    }

    @Test func `a bus that has been shut down rejects a connector`() async throws {
        await self.bus.shutDown()
        let error = #expect(throws: RoutingError.self) {
            try self.bus.connect("memo", to: ConnectorTests.mirror)
        }
        #expect(error?.code == .shutDown && self.bus.connectedSchemes.isEmpty)
        #expect(await failure { try await self.bus.route("memo://a") }?.code == .shutDown)
    }

    @Test func `a connector's messages pass the middlewares, with the scheme as their pattern`() async throws
    {
        let patterns = Journal<String>()
        self.bus.use(PatternJournal(patterns: patterns))
        try self.bus.connect("memo", to: ConnectorTests.mirror)
        #expect(try await self.bus.route("memo://a", as: String.self) == "memo://a")
        _ = await failure { try await self.bus.route("zzz://a") }
        #expect(patterns.entries == ["memo:", "none"])
    }

    @Test func `a sent message that a connector does not handle is a dead letter with the scheme`()
        async throws
    {
        try self.bus.connect("memo", to: StubConnector { _ in throw Trouble() })
        var letters = self.bus.deadLetters.makeAsyncIterator()
        self.bus.send("memo://a", headers: ["user": "7"])
        let letter = try #require(await letters.next())
        #expect(letter.pattern == "memo:" && letter.error.code == .handlerFailed)
        #expect(letter.message?.headers == ["user": "7"])
    }

    @Test func `a return URL can lead to a connector, and a connector's reply to a return URL`() async throws
    {
        let heard = Journal<String>()
        try self.bus.connect(
            "memo",
            to: StubConnector { message in
                heard.add("\(message.address.text) \(message.payload ?? "nothing")")
                return 2
            }
        )
        try self.bus.register("app://one") { _ in 1 }
        try self.bus.register("app://home") { message in heard.add("home \(message.payload ?? "nothing")") }
        _ = try await self.bus.route("app://one#memo://kept")
        _ = try await self.bus.route("memo://b#app://home")
        #expect(await self.bus.settles())
        #expect(heard.entries.sorted() == ["home 2", "memo://b#app://home nothing", "memo://kept 1"])
    }
}

/// Records the patterns of messages.
struct PatternJournal: Middleware {
    let patterns: Journal<String>

    func handle(
        _ message: Message,
        context: borrowing MiddlewareContext,
        next: borrowing Next
    ) async throws -> any Sendable {
        self.patterns.add(context.pattern ?? "none")
        return try await next(message)
    }
}
