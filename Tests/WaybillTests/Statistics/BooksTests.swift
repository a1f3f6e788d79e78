import Testing
import Waybill
import WaybillEventLoop
import WaybillTestSupport

@Suite(.timeLimit(.minutes(1)))
struct BooksTests {
    let bus = MessageBus(configuration: .quiet)

    private func columns() -> [Int] {
        let books = self.bus.statistics
        return [
            books.replied, books.failed, books.expired, books.cancelled, books.deadLettered, books.inFlight,
        ]
    }

    @Test func `a message is counted before its caller has the reply`() async throws {
        let module = Probe(eventLoop: EventLoop())
        let bus = self.bus
        try bus.register("app://far", on: module) { _, _ in await Task.yield() }
        try bus.register("app://far/bad", on: module) { _, _ in
            await Task.yield()
            throw RoutingError(.refused, message: "not today")
        }
        for number in 1...Scale.of(2_000) {
            _ = await failure { try await bus.route(number % 2 == 0 ? "app://far" : "app://far/bad") }
            let books = bus.statistics
            #expect(books.inFlight == 0 && books.replied + books.failed == number)
        }
    }

    @Test(arguments: RouteTests.Place.allCases)
    func `the bus counts each kind of outcome separately`(place: RouteTests.Place) async throws {
        let never = Gate()
        let started = Gate()
        let bus = self.bus
        try bus.register("app://good") { _ in }
        try bus.register("app://bad") { _ in throw CancellationError() }
        try bus.register("app://picky") { _ in throw RoutingError(.refused, message: "not today") }
        try bus.register("app://slow") { _ in
            started.open()
            await never.wait()
        }
        await RouteTests.run(place, bus) {
            _ = await failure { try await bus.route("app://good") }
            _ = await failure { try await bus.route("app://good", as: Int.self) }
            _ = await failure { try await bus.route("app://bad") }
            _ = await failure { try await bus.route("app://picky") }
            _ = await failure { try await bus.route("app://nobody") }
            _ = await failure { try await bus.route("") }
            _ = await failure { try await bus.route("app://slow", deadline: .now + .milliseconds(1)) }
        }
        #expect(self.columns() == [2, 2, 1, 0, 2, 0])
        let caller = Task {
            await RouteTests.run(place, bus) { await failure { try await bus.route("app://slow") } }
        }
        #expect(await eventually { bus.statistics.inFlight == 1 })
        await started.wait()
        #expect(self.columns() == [2, 2, 1, 0, 2, 1])
        caller.cancel()
        _ = await caller.value
        #expect(self.columns() == [2, 2, 1, 1, 2, 0])
        #expect(bus.statistics.sent == 8)
        never.open()
    }

    @Test func `a failed sent message is counted as a dead letter`() async throws {
        try self.bus.register("app://good") { _ in }
        try self.bus.register("app://bad") { _ in throw CancellationError() }
        try self.bus.register("app://late") { _ in
            await Task.yield()
            throw CancellationError()
        }
        for url in ["app://good", "app://bad", "app://late", "app://nobody", ""] { self.bus.send(url) }
        #expect(await self.bus.settles())
        #expect(self.columns() == [1, 0, 0, 0, 4, 0])
    }

    @Test func `the count of messages in flight is never negative, whichever thread counts`() async throws {
        let bus = self.bus
        let far = Probe(eventLoop: EventLoop())
        try bus.register("app://now") { _ in }
        try bus.register("app://far", on: far) { _, _ in await Task.yield() }
        let stopped = Journal<Bool>()
        async let worst = onThread {
            var worst = 0
            while stopped.count == 0 { worst = min(worst, bus.statistics.inFlight) }
            return worst
        }
        await withTaskGroup(of: Void.self) { group in
            for place in RouteTests.Place.allCases {
                group.addTask {
                    await RouteTests.run(place, bus) {
                        for number in 0..<Scale.of(1000) {
                            let url = number.isMultiple(of: 2) ? "app://now" : "app://far"
                            _ = await failure { try await bus.route(url) }
                        }
                    }
                }
            }
        }
        stopped.add(true)
        #expect(await worst == 0)
        #expect(bus.statistics.inFlight == 0 && bus.statistics.replied == 3 * Scale.of(1000))
    }
}
