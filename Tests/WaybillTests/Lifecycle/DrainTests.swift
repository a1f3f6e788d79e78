import Testing
import Waybill
import WaybillEventLoop
import WaybillTestSupport
import WaybillTesting

@testable import Waybill

/// The time that a shutdown waits for messages.
///
/// The bus's clock stands still, so that no wait ends by time alone.
@Suite(.timeLimit(.minutes(1)))
struct DrainTests {
    private let clock = ManualClock()
    private let bus: MessageBus
    private let begun = Gate()
    private let gate = Gate()

    init() {
        self.bus = MessageBus(clock: self.clock, eventLoops: 2, configuration: .quiet)
    }

    /// The paths of a message.
    ///
    /// Different code ends the message in each of them.
    enum Way: CaseIterable, Sendable {
        case inPlace, acrossLoops, task, sent, sentToTask, inMailbox, published, publishedToTask
        case buffered, intercepted, followUp, failed
    }

    @Test(arguments: Way.allCases)
    func `a draining shutdown ends when the last message has its outcome`(way: Way) async throws {
        let (bus, begun, gate) = (self.bus, self.begun, self.gate)
        let probe = Probe(eventLoop: bus.eventLoop)
        let module = Probe(eventLoop: EventLoop())
        try bus.register("app://block") { _ in
            begun.open()
            gate.block()
        }
        try bus.register("app://away", on: module) { _, _ in
            begun.open()
            gate.block()
        }
        try bus.register("app://task") { _ in
            begun.open()
            await gate.wait()
        }
        try bus.register("app://fails") { _ in
            begun.open()
            await gate.wait()
            throw CancellationError()
        }
        try bus.register("app://asks") { [weak bus] _ in
            begun.open()
            await gate.wait()
            let other = Task { try await bus?.route("app://plain") }
            try await bus?.route("app://plain")
            _ = try await other.value
            bus?.send("app://plain")
            try await bus?.publish("app://heard")
        }
        try bus.register("app://plain") { _ in }
        try bus.subscribe("app://heard") { _ in }
        try bus.subscribe("app://held") { _ in
            begun.open()
            gate.block()
        }
        try bus.subscribe("app://slow") { _ in
            begun.open()
            await gate.wait()
        }
        var messages: SubscriptionSequence.Iterator?
        var caller: Task<Void, any Error>?
        switch way {
        case .inPlace: caller = Task { try await probe.run { try await bus.route("app://block") } }
        case .acrossLoops: caller = Task { try await bus.route("app://away") }
        case .task: caller = Task { try await bus.route("app://task") }
        case .sent: bus.send("app://block")
        case .sentToTask: bus.send("app://task")
        case .inMailbox:
            bus.send("app://block")
            bus.send("app://plain")
        case .published: caller = Task { try await bus.publish("app://held") }
        case .publishedToTask: caller = Task { try await bus.publish("app://slow") }
        case .buffered:
            messages = try bus.subscription(to: "app://read").makeAsyncIterator()
            try await bus.publish("app://read")
            begun.open()
        case .intercepted:
            bus.use(FilterMiddleware { _ in true })
            caller = Task { try await probe.run { try await bus.route("app://task") } }
        case .followUp: caller = Task { try await bus.route("app://asks") }
        case .failed: caller = Task { _ = try await bus.route("app://fails") }
        }
        await begun.wait()
        let ending = Task { [clock] in await bus.shutDown(drainingUntil: clock.now + .seconds(3_600)) }
        #expect(await self.clock.waitForPending())
        gate.open()
        _ = await messages?.next()
        let summary = await ending.value
        #expect(summary.abandoned == 0 && summary.finished == (way == .inMailbox ? 2 : 1))
        #expect(bus.statistics.inFlight == 0 && self.clock.pending == 0)
        _ = try? await caller?.value
    }

    @Test func `the deadline of a shutdown is measured by the bus's clock`() async throws {
        let (bus, begun, gate) = (self.bus, self.begun, self.gate)
        try bus.register("app://task") { _ in
            begun.open()
            await gate.wait()
        }
        async let error = failure { try await bus.route("app://task") }
        await begun.wait()
        let ended = Journal<DrainSummary>()
        let ending = Task { ended.add(await bus.shutDown(drainingFor: .seconds(5))) }
        #expect(await self.clock.waitForPending())
        await self.clock.advance(by: .seconds(4))
        #expect(ended.count == 0)
        await self.clock.advance(by: .seconds(1))
        await ending.value
        #expect(ended.entries.map(\.abandoned) == [1])
        #expect(await error?.code == .shutDown)
        gate.open()
    }

    @Test func `without a drain time, messages in flight fail at once`() async throws {
        let (bus, begun, gate) = (self.bus, self.begun, self.gate)
        try bus.register("app://task") { _ in
            begun.open()
            await gate.wait()
        }
        async let error = failure { try await bus.route("app://task") }
        await begun.wait()
        #expect(await bus.shutDown().abandoned == 1)
        #expect(await error?.code == .shutDown && self.clock.pending == 0)
        gate.open()
    }

    @Test(arguments: [false, true])
    func `a shutdown in a cancelled task does not wait for messages`(isBefore: Bool) async throws {
        let (bus, begun, gate) = (self.bus, self.begun, self.gate)
        try bus.register("app://task") { _ in
            begun.open()
            await gate.wait()
        }
        async let error = failure { try await bus.route("app://task") }
        await begun.wait()
        let start = Gate()
        let ending = Task {
            await start.wait()
            return await bus.shutDown(drainingFor: .seconds(3_600))
        }
        if isBefore { ending.cancel() }
        start.open()
        if !isBefore { #expect(await self.clock.waitForPending()) }
        ending.cancel()
        #expect(await ending.value.abandoned == 1)
        #expect(await error?.code == .shutDown && self.clock.pending == 0)
        gate.open()
    }

    @Test(arguments: [false, true])
    func `the dead letters of a shutdown end with the last message, or a second later`(
        isHeld: Bool
    ) async throws {
        let (bus, begun, gate) = (self.bus, self.begun, self.gate)
        // The module is not on a loop of the manual clock, because the clock waits for its loops when it is
        // advanced.
        let module = Probe(eventLoop: EventLoop())
        try bus.register("app://block", on: module) { _, _ in
            begun.open()
            gate.block()
        }
        try bus.register("app://plain", on: module) { _, _ in }
        let letters = bus.deadLetters
        let reader = Task { await letters.reduce(into: [String]()) { $0.append($1.url) } }
        bus.send("app://block")
        await begun.wait()
        bus.send("app://plain")
        await bus.shutDown()
        #expect(await self.clock.waitForPending())
        if isHeld { await self.clock.advance(by: .seconds(1)) } else { gate.open() }
        #expect(await reader.value == ["app://plain"])
        gate.open()
        #expect(await bus.settles() && self.clock.pending == 0)
    }

    /// Blocks the loop of the bus until the gate opens.
    private func holdLoop() async {
        let (begun, gate) = (self.begun, self.gate)
        self.bus.eventLoop.execute {
            begun.open()
            gate.block()
        }
        await begun.wait()
    }

    @Test(arguments: [false, true])
    func `shutting down waits for calls of the uncaught handler, and counts them`(
        isRouted: Bool
    )
        async throws
    {
        let bus = self.bus
        let seen = Journal<String>()
        bus.setUncaughtHandler { seen.add($0.parameters.url) }
        await self.holdLoop()
        for number in 0..<3 {
            let url = "app://nobody/\(number)"
            if isRouted { _ = await failure { try await bus.route(url) } } else { bus.send(url) }
        }
        let ending = Task { await bus.shutDown(drainingFor: .seconds(3_600)) }
        #expect(await self.clock.waitForPending())
        self.gate.open()
        #expect(await ending.value == DrainSummary(finished: 3, abandoned: 0))
        #expect(seen.entries.count == 3)
    }

    @Test func `a bus that has shut down does not call the uncaught handler`() async throws {
        let bus = self.bus
        let seen = Journal<String>()
        bus.setUncaughtHandler { seen.add($0.parameters.url) }
        await self.holdLoop()
        bus.send("app://nobody")
        #expect(await bus.shutDown() == DrainSummary(finished: 0, abandoned: 1))
        self.gate.open()
        // The loop runs jobs in the order in which they were enqueued.
        await withCheckedContinuation { continuation in bus.eventLoop.execute { continuation.resume() } }
        #expect(seen.entries.isEmpty)
    }
}
