import Synchronization
import Testing
import Waybill
import WaybillEventLoop
import WaybillPerformances

@Module("app://greetings")
actor Greetings {
    private var greeted = 0

    /// Greets a guest, and counts.
    @Route("/:name") func greet(name: String) -> String {
        self.greeted += 1
        return "Hello \(name), you are number \(self.greeted)"
    }
}

@Module("app://door")
actor Door {
    /// Lets a guest in.
    @Route func open(guest: String, floor: Int = 0) async throws -> String {
        try await bus.route("app://greetings/\(guest)")
    }
}

/// A module written by hand, like the code that the macros generate.
actor Plain: Module {
    static let url = "app://plain"
    static let routes: [ModuleRoute<Plain>] = [
        ModuleRoute(
            "app://plain/double/:number",
            action: "double",
            parameters: [.init("number", "Int"), .init("times", "Int", default: "2")],
            documentation: "Doubles a number."
        ) { module, message in
            module.double(try message.argument("number"))
        },
        ModuleRoute("app://plain/later", action: "later") { _, _ in
            await Task.yield()
            return 1
        },
    ]
    nonisolated let context = ModuleContext.current
    func double(_ number: Int) -> Int { number * 2 }
}

@Service("app://time")
package protocol TimeService: Sendable {
    /// Returns the time in a city.
    func time(in city: String) async throws -> String
}

@Module("app://clock")
actor ClockModule: TimeService {
    func time(in city: String) -> String { "noon in \(city)" }
}

/// The code that `@Service` generates, written by hand: a reply type, and a route and a call that use it.
enum Noon: ServiceReply {
    typealias Value = String
}

actor Bells: Module {
    static let url = "app://bells"
    static let routes: [ModuleRoute<Bells>] = [
        ModuleRoute("app://bells/ring", action: "ring", method: "ring()", reply: Noon.self) { _, _ in "noon"
        },
        ModuleRoute("app://bells/count", action: "count", method: "count()") { _, _ async -> Int in 12 },
    ]
    nonisolated let context = ModuleContext.current
}

protocol RequiredClock: Sendable {
    func now() async throws -> String
}

struct ClockAdapter: RequiredClock {
    let time: any TimeService
    func now() async throws -> String { try await self.time.time(in: "Oslo") }
}

protocol Player: AnyObject, Sendable {
    func load(_ film: String) async throws
}

actor MoviePlayer: Player {
    private(set) var film = ""
    func load(_ film: String) { self.film = film }
}

struct PlayerRouter: ServiceRouter {
    nonisolated(nonsending) func makeDestination() async throws -> (any Player)? { MoviePlayer() }
}

struct FilmSettings: Sendable { var film: String? }

struct FilmRouter: ServiceRouter {
    var defaultSettings: FilmSettings? { FilmSettings(film: "a film") }

    nonisolated(nonsending) func makeDestination(
        _ request: PerformRequest<FilmSettings>
    ) async throws -> (any Player)? {
        #expect(request.source as? String == "lobby" && request.transition != .make)
        let player = MoviePlayer()
        try await player.load(request.require("film", request.settings.film))
        return player
    }
}

final class Seen: Sendable {
    private let list = Mutex<[String]>([])
    var entries: [String] { self.list.withLock { $0 } }
    func add(_ entry: String) { self.list.withLock { $0.append(entry) } }
}

extension Routable where Service == any Player {
    static var player: Self { Self(declared: (any Player).self) }
}

extension Routable where Service == any TimeService {
    static var time: Self { Self(declared: (any TimeService).self) }
}

/// Modules, mailboxes and services, as the articles print them.
struct ModuleTests {
    private let bus = MessageBus()

    @Test func `modules call each other by URL, without importing each other`() async throws {
        let greetings = try await bus.install { Greetings() }
        try await bus.install(mailbox: MailboxConfiguration(limit: 8, whenFull: .suspend, isSerial: true)) {
            Door()
        }
        let words: String = try await bus.route("app://door/open?guest=Lili")
        #expect(words == "Hello Lili, you are number 1")
        #expect(try await bus.route(Door.urls.open(guest: "Ada")) == "Hello Ada, you are number 2")
        let url = Door.urls.open(guest: "Ada", floor: 2)
        #expect(try url.text().hasPrefix("app://door/open"))
        #expect(try await bus.route(url, headers: [:], deadline: .now + .seconds(60)).hasSuffix("3"))
        bus.send(url)
        #expect(try TypedURL<String>(url: "app://door/open").text() == "app://door/open")
        let byHand = TypedURL<String>("app://door/open").with("guest", "Ada")
            .with("floor", Optional(2), hasDefault: true)
        #expect(try byHand.text() == url.text() && byHand.parameters.isEmpty)
        #expect(greetings.modules.count == 1 && greetings.registrations.count == 1)
        #expect(
            greetings.module.eventLoop === bus.eventLoop && greetings.module.bus.canRoute("app://door/open")
        )
        let description = try #require(bus.routeDescriptions.first { $0.module == "Door" })
        #expect(description.action == "open" && description.documentation == "Lets a guest in.")
        #expect(description.parameters.map(\.name) == ["guest", "floor"] && description.reply == "String")
        #expect(description.parameters.map(\.isRequired) == [true, false])
        #expect(description.parameters[1].defaultValue == "0" && description.parameters[1].type == "Int")
        greetings.cancel()
        #expect(!bus.canRoute("app://greetings/Lili"))
    }

    @Test func `a module can be written without the macro`() async throws {
        try await bus.install { Plain() }
        #expect(try await bus.route("app://plain/double/21", as: Int.self) == 42)
        #expect(try await bus.route("app://plain/later", as: Int.self) == 1)
        let bells = Bells()
        let installed = try bus.install(bells)
        #expect(installed.module === bells && bells.context.eventLoop === bells.eventLoop)
        _ = bells.unownedExecutor
        #expect(Bells.services.isEmpty && serviceRoutes(of: Int.self, in: Bells.self).isEmpty)
        #expect(!bells.context.bus.canRoute("app://bells/ring"))
        let endpoint = ServiceEndpoint(bus: bus, url: "app://bells")
        #expect(try await endpoint.methods("ring").call(0, ServiceArguments(), reply: Noon.self) == "noon")
        #expect(try await endpoint.call("count", [:], as: Int.self) == 12)
        let described = RouteDescription(
            pattern: "app://a",
            module: "A",
            action: "a",
            parameters: [],
            reply: "Int",
            documentation: "A."
        )
        #expect(described.pattern == "app://a")
        #expect(Plain.routes[0].description.parameters[1].defaultValue == "2")
    }

    @Test func `a bus with several loops can have an instance of a module on each`() async throws {
        let wide = MessageBus(eventLoops: [EventLoop(), EventLoop()])
        let installation = try await wide.install(instances: .perLoop) { Greetings() }
        #expect(installation.modules.count == 2)
        try await wide.install(instances: .keyed(by: "guest")) { Door() }
        try await wide.install(named: "front", instances: .single) { ClockModule() }
        #expect(wide.canRoute("app://greetings/Lili"))
        await wide.shutDown()
    }

    @Test func `the mailbox of any actor can be configured`() async throws {
        let accounts = Accounts(eventLoop: bus.eventLoop)
        var mailbox = MailboxConfiguration()
        mailbox.limit = 4
        #expect(mailbox.whenFull == .fail && !mailbox.isSerial)
        mailbox.whenFull = .dropOldest
        try bus.configureMailbox(of: accounts, mailbox)
        try bus.register("app://users/:uid", on: accounts) { accounts, message in
            accounts.detail(uid: try message.argument("uid"))
        }
        try await bus.enqueue("app://users/1", parameters: ["name": "Lili"], headers: [:])
        #expect(try await bus.route("app://users/2", as: User.self).uid == 2)
    }

    @Test func `a service is found by its protocol`() async throws {
        try await bus.install { ClockModule() }
        let time = try bus.service((any TimeService).self, timeout: .seconds(60))
        #expect(try await time.time(in: "Oslo") == "noon in Oslo")
        try await bus.install(named: "utc") { ClockModule() }
        #expect(
            try await bus.service((any TimeService).self, named: "utc").time(in: "Rome") == "noon in Rome"
        )
        try bus.adapt((any RequiredClock).self, from: (any TimeService).self) { time in
            ClockAdapter(time: time)
        }
        #expect(try await bus.service((any RequiredClock).self).now() == "noon in Oslo")
        #expect(bus.validate(services: [(any TimeService).self, (any RequiredClock).self]).isEmpty)
        let elsewhere = MessageBus()
        try elsewhere.register("app://there/time") { _ in "late" }
        try elsewhere.provide((any TimeService).self, at: "app://there") { TimeServiceProxy($0) }
        #expect(try await elsewhere.service((any TimeService).self).time(in: "Oslo") == "late")
        let endpoint = ServiceEndpoint(bus: elsewhere, url: "app://there")
        #expect(try await endpoint.call("time", ["city": "Oslo"], as: String.self) == "late")
        let arguments = ServiceArguments(["city": "Oslo"])
        #expect(try await endpoint.call("time", arguments, as: String.self) == "late")
        let method = ModuleMethod<ClockModule>(
            "time(in:)",
            parameters: [.init("city", "String", of: String.self)]
        ) { module, message -> String in
            module.time(in: try message.argument("city") as String)
        }
        let provided = serviceRoutes(of: (any TimeService).self, in: ClockModule.self)
        #expect(provided.map { $0.calling([method]) }.count == 1)
        let more = ServiceArguments().with("city", "Oslo").with("offset", nil as Int?)
        #expect(try await endpoint.methods("time", "date").call(0, more, as: String.self) == "late")
        #expect(endpoint.url == "app://there" && endpoint.timeout == nil && endpoint.bus === elsewhere)
    }

    @Test func `a router creates a destination from the caller's settings, and observers see it`()
        async throws
    {
        let seen = Seen()
        let end = bus.observePerformances(of: (any Player).self) { event in
            let isThere =
                event.destination is any Player && event.source != nil && event.service == (any Player).self
            switch event.kind {
            case .willPerform: seen.add("will \(event.transition.rawValue)")
            case .didPerform: seen.add("did \(isThere)")
            case .willRemove: seen.add("will remove")
            case .didRemove: seen.add("removed")
            @unknown default: break
            }
        }
        bus.registerPerformFailed { (action: PerformAction, error: RoutingError) in
            Issue.record("\(action): \(error)")
        }
        bus.setPerformPresenter(Wall(log: Log()))
        let kinds: [PerformTransition] = [
            .push, .present, .popover, .show, .detail, .embed, "slide", PerformTransition(rawValue: "fade"),
        ]
        for kind in kinds {
            let performance = bus.performance(by: FilmRouter(), settings: FilmSettings(film: "Alien")) {
                $0.source = "lobby"
                $0.transition = kind
                $0.removed = { seen.add("handler") }
                $0.actionFailed = { action, _ in #expect(action != .perform && action != .remove) }
            }
            let player = try await performance.perform()
            try await performance.remove(onSuccess: { seen.add("success") })
            withExtendedLifetime(player) {}
        }
        end()
        #expect(seen.entries.prefix(3) == ["will push", "did true", "will remove"])
        #expect(seen.entries.count == kinds.count * 6)
        try bus.provide((any Player).self, by: FilmRouter())
        let marked = try bus.performance(of: .player) { ($0.source, $0.transition) = ("lobby", .show) }
        withExtendedLifetime(try await marked.perform()) {}
        try await bus.install { ClockModule() }
        #expect(try await bus.service(.time).time(in: "Oslo") == "noon in Oslo")
    }

    @Test func `a performance creates a destination, and removes it`() async throws {
        try bus.provide((any Player).self, by: PlayerRouter())
        bus.registerPerformFailed { error in Issue.record("\(error)") }
        let states = Inbox<PerformState>()
        let performance = try bus.performance(of: (any Player).self) { configuration in
            configuration.prepare = { player in try await player.load("a film") }
            configuration.succeeded = { player in #expect(player is MoviePlayer) }
            configuration.failed = { error in Issue.record("\(error)") }
            configuration.completed = { isDone in #expect(isDone) }
            configuration.stateChanged = { _, new in if new == .routed { Task { await states.put(new) } } }
        }
        #expect(performance.state == .unrouted)
        let player = try await performance.perform()
        #expect(await (player as? MoviePlayer)?.film == "a film")
        #expect(await states.next() == .routed)
        #expect(performance.destination === player && performance.canRemove)
        try await performance.remove()
        #expect(performance.state == .removed)
        let router = PlayerRouter()
        func takesDown(_ router: some ServiceRouter<any Player>, _ player: any Player) async throws -> Bool {
            try await router.prepare(player)
            try await router.check(player)
            try await router.remove(player)
            return router.mustBeRemovedFirst
        }
        let another = MoviePlayer()
        try await router.prepare(another)
        try await router.check(another)
        try await router.remove(another)
        #expect(try await !takesDown(router, another) && !router.mustBeRemovedFirst)
        let underway: [PerformState] = [.routing, .removing]
        #expect(underway.map(\.rawValue) == ["routing", "removing"] && PerformState(rawValue: "x") == nil)
        #expect(PerformAction(rawValue: "perform") == .perform && PerformAction(rawValue: "x") == nil)
    }

    @Test func `a router without a makeDestination fails to perform`() async throws {
        struct Idle: ServiceRouter {
            typealias Destination = any Player
        }
        func settings<Router: ServiceRouter>(of router: Router) -> Router.Settings? { router.defaultSettings }
        func makes(_ router: some ServiceRouter<any Player>) async throws -> Bool {
            try await router.makeDestination() != nil
        }
        #expect(settings(of: Idle()) != nil && settings(of: FilmRouter())?.film == "a film")
        #expect(try await Idle().makeDestination() == nil)
        #expect(Idle().defaultSettings != nil)
        #expect(try await !makes(Idle()))
        await #expect(throws: RoutingError.self) { try await bus.performance(by: Idle()).perform() }
    }

    @Test func `a router can pass a request on to another router`() async throws {
        struct Loaded: ServiceRouter {
            nonisolated(nonsending) func makeDestination(
                _ request: PerformRequest<Void>
            ) async throws -> (any Player)? {
                let player = try await PlayerRouter().makeDestination(request)
                try await player?.load("a film")
                return player
            }
        }
        let player = try await bus.performance(by: Loaded()).perform()
        #expect(await (player as? MoviePlayer)?.film == "a film")
    }
}
