import Testing
import Waybill
import WaybillEventLoop
import WaybillTestSupport

@Suite(.timeLimit(.minutes(1)))
struct UncaughtTests {
    let bus = MessageBus(configuration: .quiet)

    /// Passes a URL without a handler to the bus, by each kind of call.
    enum Way: CaseIterable {
        case route, routeOnLoop, value, callback, replies, send, sendOnLoop

        func give(_ url: String, to bus: MessageBus) async {
            let probe = Probe(eventLoop: bus.eventLoop)
            switch self {
            case .route: _ = await failure { try await bus.route(url, parameters: ["x": 1]) }
            case .routeOnLoop:
                await probe.run {
                    _ = await failure { try await bus.route(url, parameters: ["x": 1], as: Int.self) }
                }
            case .value: _ = await failure { try await bus.route("\(url)&x=1", as: Int.self) }
            case .callback:
                _ = await failure {
                    try await bus.route(url, parameters: ["x": 1], as: Int.self) { (update: Int) in update }
                }
            case .replies:
                _ = await failure { for try await _ in bus.replies(to: url, parameters: ["x": 1]) {} }
            case .send: bus.send(url, parameters: ["x": 1])
            case .sendOnLoop: await probe.run { bus.send(url, parameters: ["x": 1]) }
            }
        }
    }

    @Test(arguments: Way.allCases)
    func `the uncaught handler gets unmatched URLs on the bus's loop`(way: Way) async throws {
        let journal = Journal<[String?]>()
        let loop = self.bus.eventLoop
        self.bus.setUncaughtHandler { message in
            loop.preconditionInEventLoop()
            journal.add([message.address.scheme, message.parameters["q"], message.parameters["x"]])
        }
        await way.give("app://nobody/home?q=2", to: self.bus)
        #expect(await eventually { journal.entries == [["app", "2", "1"]] })
        #expect(self.bus.statistics.deadLettered == 1 && self.bus.statistics.inFlight == 0)
    }

    @Test func `the uncaught handler that was set last is called`() async throws {
        let journal = Journal<Int>()
        self.bus.setUncaughtHandler { _ in journal.add(1) }
        self.bus.setUncaughtHandler { _ in journal.add(2) }
        self.bus.send("app://nobody")
        #expect(await eventually { journal.entries == [2] })
    }

    @Test func `the uncaught handler gets only unmatched URLs`() async throws {
        let journal = Journal<String>()
        self.bus.setUncaughtHandler { journal.add("\($0.address)") }
        try self.bus.register("app://broken") { _ in throw CancellationError() }
        self.bus.send("app://broken")
        self.bus.send("")
        _ = await failure { try await self.bus.route("app://%ff") }
        self.bus.send("app://nobody")
        #expect(await eventually { journal.entries == ["app://nobody"] })
    }

    @Test func `an uncaught handler that sends unmatched messages terminates`() async throws {
        let journal = Journal<Int>()
        let bus = self.bus
        bus.setUncaughtHandler { [weak bus] _ in
            journal.add(1)
            bus?.send("app://nobody/either")
        }
        bus.send("app://nobody")
        #expect(await bus.settles())
        let limit = MessageBus.Configuration.quiet.hopLimit
        #expect(await eventually { journal.count == limit + 1 })
        #expect(await eventually { bus.statistics.sent == limit + 2 })
    }

    @Test func `a dead letter is logged with the reason`() async throws {
        let journal = Journal<String>()
        let bus = MessageBus(configuration: .logging(to: journal))
        bus.send("app://nobody")
        #expect(journal.count == 1)
        #expect("\(journal.entries)".contains("noRoute app://nobody"))
        try bus.register("app://broken") { _ in throw CancellationError() }
        bus.send("app://broken")
        #expect(await eventually { "\(journal.entries)".contains("handlerFailed app://broken") })
        _ = await failure { try await bus.route("app://nobody") }
        #expect(journal.count == 2)
    }

    @Test(arguments: [false, true])
    func `the uncaught handler gets a request for all replies without a route`(
        isSurrounded: Bool
    ) async throws {
        let journal = Journal<String>()
        self.bus.setUncaughtHandler { journal.add($0.address.text) }
        if isSurrounded { self.bus.use(Doing { .pass($0) }) }
        let error = await failure { for try await _ in self.bus.replies(to: "app://nobody") {} }
        #expect(error?.code == .noRoute)
        #expect(await eventually { journal.entries == ["app://nobody"] })
    }

    @Test(arguments: [false, true])
    func `the uncaught handler does not get a handler's failure, whatever its code`(
        isSurrounded: Bool
    ) async throws {
        let journal = Journal<String>()
        self.bus.setUncaughtHandler { journal.add($0.address.text) }
        if isSurrounded { self.bus.use(Doing { .pass($0) }) }
        try self.bus.register("app://a") { _ in throw RoutingError(.noRoute, message: "not here") }
        #expect(await failure { try await self.bus.route("app://a") }?.code == .noRoute)
        self.bus.send("app://a")
        #expect(await self.bus.settles())
        self.bus.send("app://nobody")
        #expect(await eventually { journal.count > 0 })
        #expect(journal.entries == ["app://nobody"])
    }
}
