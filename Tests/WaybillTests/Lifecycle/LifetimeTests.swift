import Testing
import Waybill
import WaybillEventLoop
import WaybillTestSupport

/// A bus without references is released with all its contents.
@Suite(.timeLimit(.minutes(1)))
struct LifetimeTests {
    @Test(arguments: [true, false])
    func `dropping the bus releases its contents and the loop`(isUsedOnLoop: Bool) async throws {
        weak var weakBus: MessageBus?
        weak var weakLoop: EventLoop?
        weak var near: Probe?
        weak var far: Probe?
        weak var held: Gate?
        do {
            let bus = MessageBus(configuration: .quiet)
            let here = Probe(eventLoop: bus.eventLoop)
            let there = Probe(eventLoop: EventLoop())
            let gate = Gate()
            (weakBus, weakLoop, near, far, held) = (bus, bus.eventLoop, here, there, gate)
            try bus.register("app://near", on: here) { $0.hear($1.parameters.query.count) }
            try bus.register("app://far", on: there) { far, _ in
                await Task.yield()
                return far.hear(1)
            }
            try bus.register("app://gate") { _ in gate.open() }
            try bus.subscribe("app://topic") { _ in gate.open() }
            bus.setUncaughtHandler { _ in gate.open() }
            try await here.run {
                for url in ["app://near", "app://far", "app://gate"] {
                    try await bus.route(url, as: Void.self)
                    bus.send(url)
                }
                _ = try await bus.publish("app://topic")
            }
            #expect(await bus.settles())
        }
        #expect(await eventually { weakBus == nil && near == nil && far == nil && held == nil })
        #expect(await eventually { weakLoop == nil })
    }

    @Test func `a bus that was shut down retains no closure that retains the bus`() async throws {
        weak var weakBus: MessageBus?
        do {
            let bus = MessageBus(configuration: .quiet)
            weakBus = bus
            bus.addReadinessCheck("before") { bus.defaultScheme }
            await bus.shutDown()
            bus.addReadinessCheck("after") { bus.defaultScheme }
            bus.setUncaughtHandler { _ in bus.defaultScheme = "shop" }
        }
        #expect(await eventually { weakBus == nil })
    }

    @Test func `a module without routes keeps the mailbox of its installation`() async throws {
        let bus = MessageBus(configuration: .quiet)
        let mailbox = MailboxConfiguration(isSerial: true)
        let module = try await bus.install(mailbox: mailbox) { SilentModule() }.module
        try bus.register("app://silent", on: module) { module, _ in await module.overlap() }
        async let first: Int = bus.route("app://silent")
        async let second: Int = bus.route("app://silent")
        #expect(try await [first, second] == [1, 1])
    }

    @Test func `attachments of a bus that was shut down are released`() async {
        let bus = MessageBus(configuration: .quiet)
        bus.attachments.set(1)
        #expect(bus.attachments.value(of: Int.self) == 1)
        await bus.shutDown()
        bus.attachments.set(2)
        #expect(bus.attachments.value(of: String.self, orSet: "a") == "a")
        #expect(bus.attachments.value(of: Int.self) == nil && bus.attachments.value(of: String.self) == nil)
    }

    @Test func `a module whose installation fails is released`() async throws {
        let bus = MessageBus(configuration: .quiet)
        try bus.register("app://taken") { _ in }
        weak var module: TakenModule?
        do {
            let made = TakenModule()
            module = made
            let error = await failure {
                try bus.install(made, mailbox: MailboxConfiguration(isSerial: true))
            }
            #expect(error?.code == .conflict)
        }
        #expect(await eventually { module == nil })
    }

    @Test func `dropping the bus fails waiting callers`() async throws {
        let started = Gate()
        let cancelled = Gate()
        let loop = EventLoop()
        let error = try await {
            var bus: MessageBus? = MessageBus(eventLoop: loop, configuration: .quiet)
            try bus?.register("app://slow") { _ in
                started.open()
                await withTaskCancellationHandler {
                    await cancelled.wait()
                } onCancel: {
                    cancelled.open()
                }
            }
            // The sequence retains the core of the bus, but not the bus.
            let replies = bus?.replies(to: "app://slow")
            let reader = Task { await failure { if let replies { for try await _ in replies {} } } }
            await started.wait()
            bus = nil
            return await reader.value
        }()
        #expect(error?.code == .shutDown)
        await cancelled.wait()
    }

    @Test func `cancelling a registration or a subscription after its bus is gone is harmless`() async throws
    {
        var bus: MessageBus? = MessageBus(configuration: .quiet)
        let registration = try bus?.register("app://a") { _ in }
        let subscription = try bus?.subscribe("app://a") { _ in }
        bus = nil
        registration?.cancel()
        subscription?.cancel()
    }

    @Test func `a module that is unregistered does not leave its mailbox to another module`() async throws {
        let bus = MessageBus(configuration: .quiet)
        let loops = [EventLoop(name: "one"), EventLoop(name: "two")]
        for number in 0..<200 {
            let probe = Probe(eventLoop: loops[number % 2])
            let registration = try bus.register("app://a", on: probe) { probe, _ in probe.hear(1) }
            #expect(try await bus.route("app://a", as: Int.self) == 1)
            registration.cancel()
        }
    }

    @Test func `a thousand dropped buses on one loop leave nothing behind`() async throws {
        let loop = EventLoop()
        for _ in 0..<Scale.of(1000) {
            weak var held: Gate?
            do {
                let gate = Gate()
                held = gate
                let bus = MessageBus(eventLoop: loop, configuration: .quiet)
                try bus.register("app://a") { _ in gate.open() }
                try await bus.route("app://a")
            }
            #expect(await eventually { held == nil })
        }
    }

    @Test func `handlers with a weak reference to the bus do not retain it`() async throws {
        weak var weakBus: MessageBus?
        do {
            let bus = MessageBus(configuration: .quiet)
            weakBus = bus
            try bus.register("app://inner") { _ in 1 }
            try bus.register("app://outer") { [weak bus] _ in
                try await bus?.route("app://inner", as: Int.self)
            }
            try bus.register("app://again") { [unowned bus] _ in
                try await bus.route("app://inner", as: Int.self)
            }
            #expect(try await bus.route("app://outer", as: Int?.self) == 1)
            #expect(try await bus.route("app://again", as: Int.self) == 1)
        }
        #expect(await eventually { weakBus == nil })
    }
}

/// A module whose only route has a pattern that is already registered.
private actor TakenModule: Module {
    static let url = "app://taken"
    nonisolated let context = ModuleContext.current

    static var routes: [ModuleRoute<TakenModule>] {
        [ModuleRoute("app://taken", action: "take") { _, _ in }]
    }
}

/// A module without routes.
private actor SilentModule: Module {
    static let url = "app://silent"
    nonisolated let context = ModuleContext.current
    static let routes: [ModuleRoute<SilentModule>] = []
    private var running = 0

    /// Returns the maximum number of calls that ran at the same time during this call.
    func overlap() async -> Int {
        self.running += 1
        defer { self.running -= 1 }
        var most = self.running
        for _ in 0..<20 {
            await Task.yield()
            most = max(most, self.running)
        }
        return most
    }
}
