import Testing
import Waybill
import WaybillEventLoop
import WaybillPerformances
import WaybillTestSupport

/// Requests to routers, conditions before a performance, and observers.
@Suite(.timeLimit(.minutes(1)))
struct RouterTests {
    private let bus = MessageBus(configuration: .quiet)
    private let journal = Journal<String>()

    @Test
    func `a router receives settings, source and transition when it creates a destination`() async throws {
        try self.bus.provide((any Player).self, by: FilmRouter(journal: self.journal))
        self.bus.setPerformPresenter(NotingPresenter(journal: Journal()))
        let settings = FilmSettings(film: "Alien")
        let performance = try self.bus.performance(of: (any Player).self, settings: settings) {
            $0.source = "lobby"
            $0.transition = .present
        }
        let player = try await performance.perform()
        #expect(await player.film == "Alien")
        #expect(self.journal.entries == ["from lobby, present"])
    }

    @Test
    func `a missing dependency fails with its name`() async throws {
        try self.bus.provide((any Player).self, by: FilmRouter(journal: self.journal))
        let performance = try self.bus.performance(of: (any Player).self, settings: FilmSettings())
        let cause = await failure { try await performance.perform() }
        #expect(cause?.code == .missingParameter && cause?.message.contains("`film`") == true)
        let none = try self.bus.performance(of: (any Player).self)
        let error = await failure { try await none.perform() }
        #expect(error?.code == .missingParameter && error?.message.contains("FilmSettings") == true)
        // A mismatch is found when the performance is requested, before a destination is created. An adapter
        // and a mark make no difference.
        try self.bus.adapt((any Screen).self, from: (any Player).self) { PlayerScreen(player: $0) }
        let mismatch = await failure { try self.bus.performance(of: (any Player).self, settings: 7) }
        #expect(mismatch?.code == .typeMismatch)
        let adapted = await failure { try self.bus.performance(of: (any Screen).self, settings: 7) }
        #expect(adapted?.code == .typeMismatch)
        #expect(await failure { try self.bus.performance(of: .player, settings: 7) }?.code == .typeMismatch)
        #expect(
            mismatch?.message.contains("FilmSettings") == true && mismatch?.message.contains("Int") == true
        )
        #expect(self.journal.entries.isEmpty)
    }

    @Test
    func `an adapter applies to services on demand, and is removed with them`() async throws {
        try self.bus.provide((any Player).self, by: PlayerRouter(journal: self.journal))
        try self.bus.adapt((any Screen).self, from: (any Player).self) { PlayerScreen(player: $0) }
        try self.bus.adapt((any Wall).self, from: (any Screen).self) { ScreenWall(screen: $0) }
        #expect(self.bus.validate(services: [(any Wall).self, (any Screen).self]).isEmpty)
        let performance = try self.bus.performance(of: (any Wall).self)
        let wall = try await performance.perform()
        #expect(await wall.shows == "screen of ")
        #expect(performance.state == .routed)
        try await performance.remove()
        #expect(self.journal.entries == ["make", "prepare", "check", "remove"])
        withExtendedLifetime(wall) {}
        // Each performance removes the destination that it has created.
        let (first, second) = (
            try self.bus.performance(of: (any Screen).self), try self.bus.performance(of: (any Screen).self)
        )
        let screens = (try await first.perform(), try await second.perform())
        try await first.remove()
        #expect(second.destination === screens.1)
        withExtendedLifetime(screens) {}
    }

    @Test
    func `a failed performance keeps the adapted destination of the previous one removable`() async throws {
        let isFailing = Locked(false)
        var router = PlayerRouter(journal: self.journal)
        router.preparing = { if isFailing.withLock({ $0 }) { throw CancellationError() } }
        try self.bus.provide((any Player).self, by: router)
        try self.bus.adapt((any Screen).self, from: (any Player).self) { PlayerScreen(player: $0) }
        let performance = try self.bus.performance(of: (any Screen).self)
        let screen = try await performance.perform()
        isFailing.withLock { $0 = true }
        #expect(await failure { _ = try await performance.perform() } != nil)
        #expect(performance.destination === screen)
        try await performance.remove()
        #expect(self.journal.entries == ["make", "prepare", "check", "make", "prepare", "remove"])
    }

    @Test
    func `a router's destination lives as long as the value that an adapter has made of it`() async throws {
        try self.bus.provide(Int.self, by: PlayerRouter(journal: self.journal)) { _ in 7 }
        let performance = try self.bus.performance(of: Int.self)
        #expect(try await performance.perform() == 7)
        try await performance.remove()
        #expect(self.journal.entries == ["make", "prepare", "check", "remove"])
    }

    @Test
    func `requests by an adapter without a provider, or in a cycle, fail`() async throws {
        try self.bus.adapt((any Screen).self, from: (any Player).self) { PlayerScreen(player: $0) }
        #expect(await failure { try self.bus.performance(of: (any Screen).self) }?.code == .noHandler)
        #expect(self.bus.validate(services: [(any Screen).self]).count == 1)
        try self.bus.adapt((any Player).self, from: (any Screen).self) { _ in MoviePlayer() }
        #expect(await failure { try self.bus.performance(of: (any Screen).self) }?.code == .infiniteRecursion)
    }

    @Test
    func `a protocol can have several routers, and a router several protocols`() async throws {
        let router = FilmRouter(journal: self.journal)
        try self.bus.provide((any Player).self, named: "film", by: router)
        try self.bus.provide((any Player).self, named: "empty", by: PlayerRouter())
        try self.bus.adapt((any Screen).self, from: (any Player).self) { PlayerScreen(player: $0) }
        let alien = FilmSettings(film: "Alien")
        let film = try self.bus.performance(of: (any Player).self, named: "film", settings: alien)
        #expect(await (try film.perform()).film == "Alien")
        let empty = try self.bus.performance(of: (any Player).self, named: "empty")
        #expect(await (try empty.perform()).film.isEmpty)
        let brazil = FilmSettings(film: "Brazil")
        let screen = try self.bus.performance(of: (any Screen).self, named: "film", settings: brazil)
        #expect(await (try screen.perform()).shows == "screen of Brazil")
        #expect(await failure { try self.bus.performance(of: (any Player).self) }?.code == .noHandler)
    }

    @Test
    func `a router can be performed without a protocol`() async throws {
        let router = FilmRouter(journal: self.journal)
        let performance = self.bus.performance(by: router, settings: FilmSettings(film: "Alien"))
        #expect(await (try performance.perform()).film == "Alien")
    }

    @Test
    func `failure and success handlers are called for their outcomes`() async throws {
        let journal = self.journal
        var router = PlayerRouter()
        router.removing = { throw Jam() }
        try self.bus.provide((any Player).self, by: router)
        self.bus.registerPerformFailed { action, error in journal.add("bus \(action) \(error.code)") }
        let performance = try self.bus.performance(of: (any Player).self) {
            $0.actionFailed = { action, error in journal.add("\(action) \(error.code)") }
            $0.removed = { journal.add("removed") }
        }
        let player = try await performance.perform()
        #expect(await failure { try await performance.remove(onSuccess: { journal.add("no") }) } != nil)
        #expect(performance.state == .routed)
        let quick = self.bus.performance(by: PlayerRouter()) { $0.removed = { journal.add("removed") } }
        let other = try await quick.perform(onSuccess: { _ in journal.add("made") })
        try await quick.remove(onSuccess: { journal.add("gone") })
        #expect(
            journal.entries == [
                "remove handlerFailed", "bus remove handlerFailed", "made", "removed", "gone",
            ]
        )
        withExtendedLifetime((player, other)) {}
    }

    @Test
    func `observers receive performances before and after, with source and destination`() async throws {
        let journal = self.journal
        try self.bus.provide((any Player).self, by: PlayerRouter())
        let end = self.bus.observePerformances { event in
            journal.add(
                "\(event.kind) \(event.destination is any Player) \(event.source as? String ?? "-") "
                    + event.transition.rawValue
            )
        }
        self.bus.observePerformances(of: (any Screen).self) { _ in journal.add("no") }
        self.bus.setPerformPresenter(NotingPresenter(journal: journal))
        let performance = try self.bus.performance(of: (any Player).self) {
            $0.source = "lobby"
            $0.transition = "slide"
        }
        let player = try await performance.perform()
        try await performance.remove()
        end()
        try await performance.perform()
        #expect(
            journal.entries == [
                "willPerform true lobby slide", "show slide from lobby", "didPerform true lobby slide",
                "willRemove true lobby slide", "remove slide from lobby", "didRemove true lobby slide",
                "show slide from lobby",
            ]
        )
        withExtendedLifetime(player) {}
    }

    @Test
    func `a marked protocol is found by its mark`() async throws {
        try self.bus.provide((any Player).self, by: PlayerRouter())
        let player = try await self.bus.performance(of: .player).perform()
        #expect(await player.film.isEmpty)
    }
}

/// A presenter that shows nothing, and records its calls.
struct NotingPresenter: PerformPresenter {
    let journal: Journal<String>
    var failure: (any Error & Sendable)?

    nonisolated(nonsending) func show(_ event: PerformEvent) async throws { try self.note("show", event) }

    nonisolated(nonsending) func remove(_ event: PerformEvent) async throws {
        try self.note("remove", event)
    }

    private func note(_ verb: String, _ event: PerformEvent) throws {
        self.journal.add("\(verb) \(event.transition) from \(event.source as? String ?? "-")")
        if let failure { throw failure }
    }
}

extension Routable where Service == any Player {
    fileprivate static var player: Self { Self(declared: (any Player).self) }
}

private struct Jam: Error {}

private struct FilmSettings: Sendable {
    var film: String?
}

private struct FilmRouter: ServiceRouter {
    let journal: Journal<String>

    nonisolated(nonsending) func makeDestination(
        _ request: PerformRequest<FilmSettings>
    ) async throws -> (any Player)? {
        let film = try request.require("film", request.settings.film)
        if let source = request.source { self.journal.add("from \(source), \(request.transition.rawValue)") }
        let player = MoviePlayer()
        await player.insert(film)
        return player
    }
}

private protocol Screen: AnyObject, Sendable {
    var shows: String { get async }
}

private final class PlayerScreen: Screen {
    let player: any Player
    init(player: any Player) { self.player = player }
    var shows: String { get async { "screen of \(await self.player.film)" } }
}

private protocol Wall: AnyObject, Sendable {
    var shows: String { get async }
}

private final class ScreenWall: Wall {
    let screen: any Screen
    init(screen: any Screen) { self.screen = screen }
    var shows: String { get async { await self.screen.shows } }
}
