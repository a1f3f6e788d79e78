import Testing
import Waybill
import WaybillCompatibility
import WaybillEventLoop
import WaybillTestSupport

@Suite(.timeLimit(.minutes(1)))
struct UnregisterTests {
    let bus = MessageBus(configuration: .quiet)

    @Test func `a pattern is unregistered once, and patterns below it stay`() async throws {
        try self.bus.register("app://a/:id") { _ in 1 }
        try self.bus.register("app://a/:id/b") { _ in 2 }
        #expect(self.bus.unregister("app://a/:id"))
        #expect(!self.bus.unregister("app://a/:id"))
        #expect(!self.bus.canRoute("app://a/1") && self.bus.canRoute("app://a/1/b"))
        #expect(await failure { try await self.bus.route("app://a/1") }?.code == .noRoute)
    }

    @Test(arguments: ["tel", "TEL", "Tel"])
    func `a scheme is unregistered whatever the case of its letters`(scheme: String) throws {
        for pattern in ["tel://a", "TEL://b", "tel://c/:x", "app://a"] {
            try self.bus.register(pattern) { _ in }
        }
        #expect(self.bus.unregister(scheme: scheme) == 3)
        #expect(self.bus.unregister(scheme: scheme) == 0)
        #expect(self.bus.routes.map { "\($0.pattern)" } == ["app://a"])
    }

    @Test func `a scheme is unregistered by its alias`() throws {
        let bus = MessageBus(configuration: .quiet(by: .cocRouter))
        try bus.register("http://a/b") { _ in }
        try bus.connect("http", to: StubConnector { _ in 1 })
        #expect(bus.unregister(scheme: "HTTP") == 2)
        #expect(bus.routes.isEmpty && bus.connectedSchemes.isEmpty)
    }

    @Test func `cancelling a registration twice removes its route once`() throws {
        let registration = try self.bus.register("app://a") { _ in }
        #expect(registration.pattern == "app://a")
        registration.cancel()
        registration.cancel()
        #expect(self.bus.routes.isEmpty)
    }

    @Test func `cancelling a registration does not remove the route that followed it`() async throws {
        let first = try self.bus.register("app://a") { _ in 1 }
        first.cancel()
        try self.bus.register("app://a") { _ in 2 }
        first.cancel()
        #expect(try await self.bus.route("app://a", as: Int.self) == 2)
    }

    @Test func `canRoute calls no handler and sends no message`() async throws {
        let journal = Journal<Int>()
        try self.bus.register("app://a/:id") { _ in journal.add(1) }
        self.bus.setUncaughtHandler { _ in journal.add(2) }
        #expect(self.bus.canRoute("app://a/1") && self.bus.canRoute("APP:///a/1/?q=1#b"))
        for url in ["app://a", "app://a/1/2", "tel://a/1", "", "app://%ff"] {
            #expect(!self.bus.canRoute(url))
        }
        await Probe(eventLoop: self.bus.eventLoop).run {}
        #expect(journal.entries.isEmpty && self.bus.statistics.sent == 0)
    }

    @Test func `a waiting caller fails at once when its handler is unregistered`() async throws {
        let gate = Gate()
        let cancelled = Gate()
        let started = Gate()
        let registration = try self.bus.register("app://slow") { _ in
            started.open()
            await withTaskCancellationHandler {
                await gate.wait()
            } onCancel: {
                cancelled.open()
            }
        }
        async let error = failure { try await self.bus.route("app://slow") }
        await started.wait()
        registration.cancel()
        #expect(await error?.code == .noHandler)
        await cancelled.wait()
        gate.open()
        #expect(self.bus.statistics.deadLettered == 1 && self.bus.statistics.inFlight == 0)
    }

    @Test(arguments: ["app://now", "app://later"])
    func `a waiting message does not reach an unregistered handler`(url: String) async throws {
        let held = Gate()
        let begun = Gate()
        let journal = Journal<Int>()
        try self.bus.register("app://hold") { _ in
            begun.open()
            held.block()
        }
        try self.bus.register("app://now") { _ in journal.add(1) }
        try self.bus.register("app://later") { _ in
            journal.add(2)
            await Task.yield()
        }
        self.bus.send("app://hold")
        await begun.wait()
        self.bus.send(url)
        let caller = Task.immediate { await failure { try await self.bus.route(url) } }
        self.bus.unregister(url)
        held.open()
        #expect(await caller.value?.code == .noHandler)
        #expect(await self.bus.settles())
        #expect(journal.entries.isEmpty)
        #expect(self.bus.statistics.deadLettered == 2)
    }

    @Test func `a message in progress ends when its handler is unregistered`() async throws {
        let started = Gate()
        let cancelled = Gate()
        let registration = try self.bus.register("app://slow") { _ in
            started.open()
            await withTaskCancellationHandler {
                await cancelled.wait()
            } onCancel: {
                cancelled.open()
            }
        }
        self.bus.send("app://slow")
        await started.wait()
        #expect(self.bus.statistics.inFlight == 1)
        registration.cancel()
        // A handler that has not suspended yet ends when it suspends, and it may still be at the gate.
        await cancelled.wait()
        let bus = self.bus
        #expect(await eventually { bus.statistics.deadLettered == 1 && bus.statistics.inFlight == 0 })
    }

    @Test func `an unregistered handler is released with its captures`() async throws {
        weak var held: Gate?
        do {
            let gate = Gate()
            held = gate
            let registration = try self.bus.register("app://a") { _ in gate.open() }
            try await self.bus.route("app://a")
            try await Probe(eventLoop: self.bus.eventLoop).run { try await bus.route("app://a") }
            registration.cancel()
        }
        #expect(await eventually { held == nil })
    }

    @Test func `code in the deinit of a released handler can use the bus`() async throws {
        final class Guest: Sendable {
            let bus: MessageBus
            init(_ bus: MessageBus) { self.bus = bus }
            deinit {
                self.bus.send("app://bye")
                self.bus.unregister("app://nobody")
                _ = self.bus.canRoute("app://bye")
            }
        }
        let journal = Journal<Int>()
        try self.bus.register("app://bye") { _ in journal.add(1) }
        let probe = Probe(eventLoop: self.bus.eventLoop)
        do {
            let guest = Guest(self.bus)
            try self.bus.register("app://guest") { _ in guest.bus.statistics.sent }
        }
        try await probe.run { try await self.bus.route("app://guest") }
        await probe.run {
            self.bus.unregister("app://guest")
            _ = await failure { try await self.bus.route("app://guest") }
        }
        #expect(await eventually { journal.count == 1 })
    }

    @Test func `replacing a pattern ends the wait for its old handler`()
        async throws
    {
        let bus = MessageBus(configuration: .replacing)
        let gate = Gate()
        let started = Gate()
        try bus.register("app://a") { _ in
            started.open()
            await gate.wait()
        }
        async let error = failure { try await bus.route("app://a") }
        await started.wait()
        try bus.register("app://a") { _ in 2 }
        #expect(await error?.code == .noHandler)
        gate.open()
        #expect(try await bus.route("app://a", as: Int.self) == 2)
    }
}

extension MessageBus.Configuration {
    static var replacing: Self {
        var configuration = Self.quiet
        configuration.conventions.sameShape = .replaces
        return configuration
    }
}
