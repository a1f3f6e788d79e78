import Synchronization
import Testing
import Waybill
import WaybillEventLoop
import WaybillPerformances
import WaybillTestSupport

/// The presentation of destinations, and destinations that were created without a router.
@Suite(.timeLimit(.minutes(1)))
struct PerformPresenterTests {
    private let bus = MessageBus(configuration: .quiet)
    private let journal = Journal<String>()

    @Test(arguments: [PerformTransition.push, .present, .popover, .detail, .show, .embed, "slide"])
    func `one presenter shows a destination by any transition, and removes it`(
        transition: PerformTransition
    ) async throws {
        self.bus.setPerformPresenter(NotingPresenter(journal: self.journal))
        let performance = self.bus.performance(by: PlayerRouter(journal: self.journal)) {
            $0.transition = transition
        }
        let player = try await performance.perform()
        try await performance.remove()
        #expect(
            self.journal.entries == [
                "make", "prepare", "check", "show \(transition) from -", "remove \(transition) from -",
                "remove",
            ]
        )
        withExtendedLifetime(player) {}
    }

    @Test
    func `the make transition calls no presenter`() async throws {
        let performance = self.bus.performance(by: PlayerRouter())
        try await performance.perform()
        self.bus.setPerformPresenter(NotingPresenter(journal: self.journal))
        let player = try await performance.perform()
        try await performance.remove()
        #expect(self.journal.entries.isEmpty)
        withExtendedLifetime(player) {}
    }

    @Test
    func `a transition without a presenter fails, and the state is unchanged`() async throws {
        let performance = self.bus.performance(by: PlayerRouter()) { $0.transition = .present }
        let error = await failure { try await performance.perform() }
        #expect(error?.code == .noHandler)
        #expect(error?.message.contains("`present`") == true)
        #expect(performance.state == .unrouted)
    }

    @Test
    func `a presenter that fails to show or to remove leaves the state unchanged`() async throws {
        let journal = self.journal
        self.bus.observePerformances { journal.add("\($0.kind)") }
        let performance = self.bus.performance(by: PlayerRouter()) { $0.transition = .push }
        self.bus.setPerformPresenter(NotingPresenter(journal: Journal(), failure: Jam()))
        #expect(await failure { try await performance.perform() }?.cause is Jam)
        #expect(performance.state == .unrouted)
        self.bus.setPerformPresenter(NotingPresenter(journal: Journal()))
        let player = try await performance.perform()
        self.bus.setPerformPresenter(NotingPresenter(journal: Journal(), failure: Jam()))
        #expect(await failure { try await performance.remove() }?.cause is Jam)
        #expect(performance.destination === player)
        #expect(journal.entries == ["willPerform", "willPerform", "didPerform", "willRemove"])
    }

    @Test
    func `the router of a protocol prepares and removes a destination created elsewhere`()
        async throws
    {
        try self.bus.provide((any Player).self, by: PlayerRouter(journal: self.journal))
        let journal = self.journal
        let performance = try self.bus.performance(of: (any Player).self) { $0.note(in: journal) }
        let player = MoviePlayer()
        try await performance.perform(on: player)
        #expect(performance.destination === player && performance.state == .routed)
        try await performance.remove()
        #expect(
            self.journal.entries == [
                "configure", "unrouted->routing", "caller prepares", "prepare", "check", "routing->routed",
                "succeeded", "completed true", "routed->removing", "remove", "removing->removed",
                "completed true",
            ]
        )
    }

    @Test
    func `a router provides several protocols that its destination conforms to`() async throws {
        let router = DeckRouter(journal: self.journal)
        try self.bus.provide((any Player).self, by: router) { $0 }
        try self.bus.provide((any Counter).self, by: router) { $0 }
        let player = try await self.bus.performance(of: (any Player).self).perform()
        let performance = try self.bus.performance(of: (any Counter).self, settings: 7)
        let counter = try await performance.perform()
        #expect(await counter.count == 7)
        #expect(await player.film.isEmpty)
        try await performance.remove()
        #expect(self.journal.entries == ["prepare", "prepare", "remove"])
        // A destination that was created elsewhere must have the type that the router creates.
        try await performance.perform(on: Deck(count: 1))
        #expect(self.journal.entries.last == "prepare")
        let error = await failure { try await performance.perform(on: OtherCounter()) }
        #expect(error?.code == .typeMismatch)
    }

    @Test
    func `infinite recursion is thrown, and not reported to the failure handler`() async throws {
        let (reported, depths) = (Journal<RoutingError.Code>(), Journal<Int>())
        self.bus.registerPerformFailed { reported.add($0.code) }
        let bus = self.bus
        let router = Journal<PlayerRouter>()
        router.add(
            PlayerRouter(destination: { [weak router] in
                depths.add(1)
                return try await bus.performance(by: #require(router?.entries.first)).perform()
            })
        )
        let error = await failure { try await bus.performance(by: router.entries[0]).perform() }
        #expect(error?.rootCause.code == .infiniteRecursion)
        #expect(depths.count == 200)
        #expect(reported.entries.isEmpty)
    }

    @Test
    func `performances in tasks that earlier performances have started are not nested in them`()
        async throws
    {
        let (bus, router) = (self.bus, Journal<PlayerRouter>())
        let next = Mutex(Gate())
        let tasks = Journal<Task<Void, any Error>>()
        router.add(
            PlayerRouter(destination: { [weak router] in
                // A task that waited at the end of the test would be a leak.
                guard tasks.count < 300 else { return MoviePlayer() }
                let gate = next.withLock { $0 }
                let own = try #require(router?.entries.first)
                tasks.add(
                    Task {
                        await gate.wait()
                        _ = try await bus.performance(by: own).perform()
                    }
                )
                return MoviePlayer()
            })
        )
        try await bus.performance(by: router.entries[0]).perform()
        for index in 0..<300 {
            let gate = next.withLock { Swift.exchange(&$0, with: Gate()) }
            gate.open()
            try await tasks.entries[index].value
        }
        withExtendedLifetime(router) {}
    }

    @Test
    func `each step of a performance runs in the isolation of its caller`() async throws {
        let caller = PerformingActor()
        let places = Journal<Bool>()
        let router = PlaceRouter(loop: caller.eventLoop, places: places)
        try await caller.perform(self.bus.performance(by: router))
        #expect(places.entries == [true, true, true])
    }
}

private actor PerformingActor: LoopBound {
    let eventLoop = EventLoop(name: "performing")

    func perform(_ performance: Performance<any Player>) async throws { try await performance.perform() }
}

/// Records whether each step runs on a loop.
private struct PlaceRouter: ServiceRouter {
    let loop: EventLoop
    let places: Journal<Bool>

    private func note() { self.places.add(EventLoop.current === self.loop) }

    nonisolated(nonsending) func makeDestination() async throws -> (any Player)? {
        self.note()
        return MoviePlayer()
    }

    nonisolated(nonsending) func prepare(_ destination: any Player) async throws { self.note() }

    nonisolated(nonsending) func check(_ destination: any Player) async throws { self.note() }
}

private struct Jam: Error {}

private protocol Counter: AnyObject, Sendable {
    var count: Int { get async }
}

private actor OtherCounter: Counter {
    var count: Int { 0 }
}

/// A destination that conforms to two protocols.
private actor Deck: Player, Counter {
    let count: Int
    private(set) var film = ""

    init(count: Int) { self.count = count }

    func insert(_ film: String) { self.film += film }
}

private struct DeckRouter: ServiceRouter {
    let journal: Journal<String>
    var defaultSettings: Int? { 0 }

    nonisolated(nonsending) func makeDestination(_ request: PerformRequest<Int>) async throws -> Deck? {
        Deck(count: request.settings)
    }

    nonisolated(nonsending) func prepare(_ destination: Deck) async throws { self.journal.add("prepare") }

    nonisolated(nonsending) func remove(_ destination: Deck) async throws { self.journal.add("remove") }
}
