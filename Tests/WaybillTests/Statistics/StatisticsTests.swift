import Testing
import Waybill
import WaybillEventLoop
import WaybillTestSupport

/// The counters of a route.
@Suite(.timeLimit(.minutes(1)))
struct StatisticsTests {
    let bus = MessageBus(configuration: .quiet)

    private struct Refusal: Error {}

    /// Replied, failed, expired, cancelled, dead-lettered, in flight.
    private func columns(_ books: BusStatistics?) -> [Int] {
        guard let books else { return [] }
        return [
            books.replied, books.failed, books.expired, books.cancelled, books.deadLettered, books.inFlight,
        ]
    }

    private func columns(_ pattern: String) -> [Int] {
        self.columns(self.bus.routeStatistics.first { $0.pattern == pattern }?.counts)
    }

    /// The counts of messages without a route.
    private var elsewhere: [Int] {
        self.columns(self.bus.routeStatistics.reduce(self.bus.statistics) { $0 - $1.counts })
    }

    @Test func `the statistics list each route with its pattern and place, in order`() throws {
        try self.bus.register("app://b/:id") { _ in }
        let line = #line - 1
        try self.bus.register("app://a") { _ in await Task.yield() }
        let routes = self.bus.routeStatistics
        #expect(routes.map(\.pattern) == ["app://b/:id", "app://a"])
        #expect(routes[0].fileID == #fileID && routes[0].line == line)
        #expect(routes.allSatisfy { $0.counts.sent == 0 })
        #expect("\(routes[1])".hasSuffix("0 dead-lettered, 0 in flight"))
    }

    @Test(arguments: RouteTests.Place.allCases, [false, true])
    func `the statistics count each kind of outcome of a route separately`(
        place: RouteTests.Place,
        isFar: Bool
    ) async throws {
        let bus = self.bus
        let module = Probe(eventLoop: isFar ? EventLoop() : bus.eventLoop)
        let never = Gate()
        try bus.register("app://good", on: module) { _, _ in }
        try bus.register("app://later", on: module) { _, _ in await Task.yield() }
        try bus.register("app://bad", on: module) { _, _ in throw Refusal() }
        try bus.register("app://slow", on: module) { _, _ in await never.wait() }
        await RouteTests.run(place, bus) {
            for url in ["app://good", "app://later", "app://bad", "app://nobody", ""] {
                _ = await failure { try await bus.route(url) }
                _ = await failure { try await bus.route(url, as: Void.self) }
                _ = await failure { try await bus.route(url, deadline: .now + .seconds(60)) }
                bus.send(url)
                _ = await failure { try await bus.enqueue(url) }
            }
            _ = await failure { try await bus.route("app://slow", deadline: .now + Scale.whileQuick / 2) }
            let caller = Task { await failure { try await bus.route("app://slow") } }
            #expect(await eventually { self.columns("app://slow") == [0, 0, 1, 0, 0, 1] })
            caller.cancel()
            _ = await caller.value
        }
        #expect(await bus.settles())
        #expect(await eventually { self.columns("app://good") == [5, 0, 0, 0, 0, 0] })
        #expect(self.columns("app://later") == [5, 0, 0, 0, 0, 0])
        #expect(self.columns("app://bad") == [0, 3, 0, 0, 2, 0])
        #expect(self.columns("app://slow") == [0, 0, 1, 1, 0, 0])
        #expect(self.elsewhere == [0, 0, 0, 0, 10, 0])
        never.open()
    }

    @Test func `a rejected message is counted for its route`() async throws {
        let far = Probe(eventLoop: EventLoop())
        try self.bus.configureMailbox(of: far, .init(limit: 2))
        let held = Gate()
        let begun = Gate()
        try self.bus.register("app://far", on: far) { _, _ in
            begun.open()
            held.block()
        }
        self.bus.send("app://far")
        await begun.wait()
        for _ in 1...5 { self.bus.send("app://far") }
        _ = await failure { try await self.bus.route("app://far") }
        held.open()
        #expect(await self.bus.settles())
        #expect(await eventually { self.columns("app://far") == [3, 0, 0, 0, 4, 0] })
        #expect(self.elsewhere == [0, 0, 0, 0, 0, 0])
    }

    @Test func `a message without an outcome is in flight`() async throws {
        let gate = Gate()
        try self.bus.register("app://slow") { _ in await gate.wait() }
        let bus = self.bus
        bus.send("app://slow")
        async let reply = bus.route("app://slow")
        #expect(await eventually { self.columns("app://slow") == [0, 0, 0, 0, 0, 2] })
        gate.open()
        _ = try await reply
        #expect(await eventually { self.columns("app://slow") == [2, 0, 0, 0, 0, 0] })
    }

    @Test func `the counts of a removed route move to the bus's remaining counts`() async throws {
        let registration = try self.bus.register("app://a") { _ in }
        try await self.bus.route("app://a")
        #expect(self.elsewhere == [0, 0, 0, 0, 0, 0])
        registration.cancel()
        #expect(self.bus.routeStatistics.isEmpty)
        #expect(self.elsewhere == [1, 0, 0, 0, 0, 0])
    }
}
