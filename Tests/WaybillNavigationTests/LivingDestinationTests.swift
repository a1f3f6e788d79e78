import Testing
import Waybill
import WaybillNavigation
import WaybillRouting
import WaybillTestSupport

/// Destinations that reply to their callers while they exist.
@Suite(.timeLimit(.minutes(1)))
struct LivingDestinationTests {
    private let screens: Screens
    private let made = Journal<NavigationRequest>()
    private var bus: MessageBus { self.screens.bus }

    init() throws {
        self.screens = try Screens()
        try self.screens.navigator.register("app://editor/:id", named: "editor") { [made] request in
            made.add(request)
            return "editor"
        }
    }

    @Test
    func `a caller with a closure receives replies until the destination closes, and then the result`()
        async throws
    {
        try await self.screens.open("app://root/home")
        let bus = self.bus
        let drafts = Journal<String>()
        let caller = Task {
            try await bus.route("app://push/editor/1", as: String.self) { (draft: String) in
                drafts.add(draft)
                return draft.count
            }
        }
        #expect(await eventually { await self.screens.links().count == 2 })
        let request = try #require(self.made.entries.first)
        #expect(await request.reply(with: "a draft"))
        #expect(try await request.reply(with: "another", expecting: Int.self) == 7)
        request.setResult("saved")
        try await self.screens.open("app://push/page/1", "app://back/home")
        #expect(try await caller.value == "saved")
        #expect(drafts.entries == ["a draft", "another"])
        #expect(await !request.reply(with: "too late"))
        let error = await failure { try await request.reply(with: "too late", expecting: Int.self) }
        #expect(error?.code == .noHandler)
    }

    @Test
    func `a caller that reads replies receives them with the ID of its request`() async throws {
        let bus = self.bus
        try await self.screens.open("app://root/home")
        let reader = Task {
            var seen: [String] = []
            var ids: Set<CorrelationID> = []
            for try await reply in bus.replies(to: "app://push/editor/1") {
                seen.append("\(reply.value)")
                ids.insert(reply.correlationID)
            }
            return (seen, ids)
        }
        #expect(await eventually { self.made.count == 1 })
        let request = self.made.entries[0]
        await request.reply(with: "one")
        await request.reply(with: "two")
        try await request.close(returning: "end")
        let (seen, ids) = try await reader.value
        #expect(seen == ["one", "two", "end"])
        #expect(ids == [request.id])
        #expect(await self.screens.links() == ["app://root/home"])
    }

    @Test
    func `a reused destination releases the requests that nobody keeps`() async throws {
        final class Value: Sendable {}
        struct Start: Decodable, ReusableDestination {}
        struct Probe {
            weak var value: Value?
        }
        try self.screens.navigator.register("app://start") { _ in Start() }
        try await self.screens.open("app://root/start")
        var probes: [Probe] = []
        for _ in 0..<3 {
            let value = Value()
            probes.append(Probe(value: value))
            try await self.bus.route("app://push/start", parameters: ["value": value])
        }
        // The destination has the parameters of the last request only.
        #expect(probes.map { $0.value == nil } == [true, true, false])
        #expect(await self.screens.links().count == 1)
    }

    @Test
    func `a destination that is closed during its step is removed after the step`() async throws {
        let gate = Gate()
        try self.screens.navigator.register("app://slow/editor") { [made] request async in
            made.add(request)
            await gate.wait()
            return "slow editor"
        }
        try await self.screens.open("app://root/home")
        let bus = self.bus
        let caller = Task {
            try await bus.route("app://push/slow/editor", as: String.self) { (_: String) in }
        }
        await gate.reached()
        let request = try #require(self.made.entries.first)
        let closing = Task { try await request.close(returning: "end") }
        gate.open()
        try await closing.value
        #expect(try await caller.value == "end")
        #expect(await self.screens.links() == ["app://root/home"])
    }

    @Test
    func `a destination that awaits its own end while it is created is rejected`() async throws {
        let failures = Journal<RoutingError.Code>()
        try self.screens.navigator.register("app://hasty") { request in
            do throws(RoutingError) {
                try await request.close(returning: "end")
            } catch {
                failures.add(error.code)
            }
            return "hasty"
        }
        try await self.screens.open("app://root/home", "app://push/hasty")
        #expect(failures.entries == [.refused])
        #expect(await self.screens.links() == ["app://root/home", "app://push/hasty"])
    }

    @Test
    func `a caller without a closure receives the destination at once`() async throws {
        let editor: String = try await self.bus.route("app://root/editor/1")
        #expect(editor == "editor")
        #expect(await !self.made.entries[0].reply(with: "a draft"))
        self.bus.send("app://push/editor/2")
        #expect(await self.bus.settles())
        #expect(await self.screens.links() == ["app://root/editor/1", "app://push/editor/2"])
    }

    @Test
    func `a destination's return URL is routed when the destination closes, and not before`() async throws {
        let saved = Journal<String>()
        try self.bus.register("app://saved") { message in
            saved.add(
                "\(try message.payload(as: String.self)) \(message.correlationID == nil ? "" : "answers")"
            )
        }
        try await self.screens.open("app://root/home", "app://push/editor/1#app://saved")
        let request = self.made.entries[0]
        #expect(await self.bus.settles())
        #expect(saved.count == 0)
        try await request.close(returning: "text")
        #expect(await saved.comes(to: "text answers"))
        // A destination that is not shown does not close, so its return URL is not routed.
        await self.screens.presenter.fail(with: Broken())
        _ = await failure { try await self.bus.route("app://push/editor/2#app://saved") }
        #expect(await self.bus.settles())
        #expect(saved.count == 1)
    }

    @Test
    func `a cancelled caller leaves its destination where it is`() async throws {
        try await self.screens.open("app://root/home")
        let bus = self.bus
        let caller = Task { try await bus.route("app://push/editor/1") { (_: String) in } }
        #expect(await eventually { await self.screens.links().count == 2 })
        caller.cancel()
        #expect(await failure { try await caller.value }?.code == .cancelled)
        #expect(await self.screens.links().count == 2)
        #expect(await !self.made.entries[0].reply(with: "a draft"))
        #expect(await self.bus.settles())
    }

    @Test
    func `all callers of a reused destination wait until it closes`() async throws {
        try await self.screens.open("app://root/home")
        let bus = self.bus
        let callers = (1...2).map { number in
            Task { try await bus.route("app://push/cart?add=\(number)") { (_: String) in } }
        }
        #expect(await eventually { self.screens.journal.count == 3 })
        #expect(self.bus.statistics.inFlight == 2)
        try await self.screens.navigator.back()
        for caller in callers { _ = try await caller.value }
        #expect(await self.bus.settles())
    }

    @Test
    func `shutting down the bus resumes callers that wait for a destination`() async throws {
        try await self.screens.open("app://root/home")
        let bus = self.bus
        let caller = Task { try await bus.route("app://push/editor/1") { (_: String) in } }
        #expect(await eventually { await self.screens.links().count == 2 })
        await bus.shutDown(drainingUntil: .now)
        #expect(await failure { try await caller.value }?.code == .shutDown)
    }

    @Test
    func `a middleware around a destination's route does not change replies and result`() async throws {
        self.bus.use(Passing())
        try await self.screens.open("app://root/home")
        let bus = self.bus
        let drafts = Journal<String>()
        let caller = Task {
            try await bus.route("app://push/editor/1", as: String.self) { (draft: String) in drafts.add(draft)
            }
        }
        #expect(await eventually { await self.screens.links().count == 2 })
        #expect(await self.made.entries[0].reply(with: "a draft"))
        try await self.made.entries[0].close(returning: "saved")
        #expect(try await caller.value == "saved")
        let error = await failure { try await self.made.entries[0].close(returning: "saved twice") }
        #expect(error?.code == .refused && error?.message.contains("removed before") == true)
        #expect(drafts.entries == ["a draft"])
        let editor: String = try await bus.route("app://push/editor/2")
        #expect(editor == "editor")
    }
}
