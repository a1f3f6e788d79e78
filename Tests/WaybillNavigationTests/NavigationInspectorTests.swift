import Testing
import Waybill
import WaybillNavigation
import WaybillRouting
import WaybillTestSupport

@Suite(.timeLimit(.minutes(1)))
struct NavigationInspectorTests {
    private let screens: Screens
    private let journal = Journal<String>()
    private var bus: MessageBus { self.screens.bus }

    init() throws { self.screens = try Screens() }

    /// Records its calls, and refuses, replaces or wraps the requests that a test names.
    private struct Inspector: NavigationInspector {
        let name: String
        let journal: Journal<String>
        var stops: String?
        var supplies: String?
        var wraps: String?

        func shouldTransition(
            _ request: NavigationRequest,
            from source: PresentedDestination?
        ) async throws -> Bool {
            let top = source.map { "\($0.value)" } ?? "nothing"
            self.journal.add("\(self.name) should \(request.transition) \(request.path) from \(top)")
            if self.stops == "throws" { throw Broken() }
            return request.path != self.stops
        }

        func willTransition(
            _ request: NavigationRequest,
            from source: PresentedDestination?,
            make: nonisolated(nonsending) () async throws -> any Sendable
        ) async throws -> (any Sendable)? {
            self.journal.add("\(self.name) will")
            if request.path == self.supplies { return "supplied" }
            return request.path == self.wraps ? "(\(try await make()))" : nil
        }

        func didTransition(
            _ request: NavigationRequest,
            result: Result<NavigationChange, RoutingError>
        ) async {
            switch result {
            case .success(let change):
                let stack = change.stack.map { "\($0.value)" }.joined(separator: " ")
                self.journal.add("\(self.name) did: \(stack)")
            case .failure(let error): self.journal.add("\(self.name) did not: \(error.code)")
            }
        }
    }

    /// Records the destinations, and does not change them.
    private struct Onlooker: NavigationInspector {
        let name: String
        let journal: Journal<String>

        func willTransition(
            _ request: NavigationRequest,
            from source: PresentedDestination?,
            make: nonisolated(nonsending) () async throws -> any Sendable
        ) async throws -> (any Sendable)? {
            self.journal.add("\(self.name) sees \(try await make())")
            return nil
        }
    }

    @Test
    func `a destination that inspectors only look at is made once`() async throws {
        let made = Tally()
        try self.screens.navigator.register("app://counted") { _ in
            made.add()
            return "counted"
        }
        for name in ["1", "2", "3"] {
            self.screens.navigator.addInspector(Onlooker(name: name, journal: self.journal))
        }
        let shown: String = try await self.bus.route("app://root/counted")
        #expect(shown == "counted" && made.count == 1)
        #expect(self.journal.entries == ["3 sees counted", "2 sees counted", "1 sees counted"])
    }

    @Test
    func `inspectors are called in order, and receive the result`() async throws {
        self.screens.navigator.addInspector(Inspector(name: "1", journal: self.journal, wraps: "page/1"))
        self.screens.navigator.addInspector(
            Inspector(name: "2", journal: self.journal, stops: "page/9", supplies: "page/2")
        )
        try await self.screens.open("app://root/home", "app://push/page/1")
        let supplied: String = try await self.bus.route("app://present/page/2")
        #expect(supplied == "supplied")
        let error = await failure { try await self.bus.route("app://push/page/9") }
        #expect(error?.code == .refused)
        #expect(error?.message.contains("Inspector") == true)
        #expect(
            self.journal.entries == [
                "1 should root home from nothing", "2 should root home from nothing", "1 will", "2 will",
                "1 did: home", "2 did: home", "1 should push page/1 from home",
                "2 should push page/1 from home",
                "1 will", "2 will", "1 did: home (page1)", "2 did: home (page1)",
                "1 should present page/2 from (page1)", "2 should present page/2 from (page1)", "1 will",
                "2 will",
                "1 did: home (page1) supplied", "2 did: home (page1) supplied",
                "1 should push page/9 from supplied", "2 should push page/9 from supplied",
                "1 did not: refused",
                "2 did not: refused",
            ]
        )
    }

    @Test
    func `an inspector that throws refuses the step, with its error as the cause`() async throws {
        self.screens.navigator.addInspector(Inspector(name: "1", journal: self.journal, stops: "throws"))
        let error = await failure { try await self.bus.route("app://root/home") }
        #expect(error?.code == .refused)
        #expect(error?.cause is Broken)
        #expect(await self.screens.navigator.state == NavigationState())
    }

    @Test
    func `an inspector can be made of closures, and a missing closure changes nothing`() async throws {
        let (navigator, journal) = (self.screens.navigator, self.journal)
        navigator.addInspector(shouldTransition: { request, source in
            request.path != "page/9" && (source != nil || request.transition == .root)
        })
        navigator.addInspector(willTransition: { request, _ in request.path == "page/2" ? "supplied" : nil })
        navigator.addInspector(didTransition: { request, result in
            switch result {
            case .success(let change): journal.add("\(request.path) \(change.stack.count)")
            case .failure(let error): journal.add("\(request.path) \(error.code)")
            }
        })
        #expect(await failure { try await self.bus.route("app://push/home") }?.code == .refused)
        try await self.screens.open("app://root/home", "app://push/page/1")
        #expect(try await self.bus.route("app://push/page/2") == "supplied")
        #expect(await failure { try await self.bus.route("app://push/page/9") }?.code == .refused)
        #expect(journal.entries == ["home refused", "home 1", "page/1 2", "page/2 3", "page/9 refused"])
    }

    @Test
    func `a global handler receives each request, and can handle it instead`() async throws {
        let journal = self.journal
        try self.screens.navigator.setGlobalHandler(uncaughtOf: ["app"]) { request in
            journal.add("\(request.transition) \(request.path) \(request.destinationName ?? "-")")
            return request.query["handled"].map { .handled($0) } ?? .proceed
        }
        try await self.screens.open("app://root/home")
        let answer: String = try await self.bus.route("app://present/page/1?handled=mine")
        #expect(answer == "mine")
        let unknown: String = try await self.bus.route("app://push/no/such/page?handled=too")
        #expect(unknown == "too")
        #expect(await failure { try await self.bus.route("app://push/no/such/page") }?.code == .noRoute)
        #expect(await self.screens.links() == ["app://root/home"])
        #expect(
            self.journal.entries == [
                "root home Home", "present page/1 Page", "push no/such/page -", "push no/such/page -",
            ]
        )
    }

    /// Conventions under which `**` in a pattern is plain text, as under FTRouter's conventions.
    private static var withoutPlaceholders: RoutingConventions {
        var conventions = RoutingConventions.navigation
        conventions.placeholders = .none
        conventions.schemeMustBeRegistered = true
        return conventions
    }

    @Test(arguments: [RoutingConventions.navigation, Self.withoutPlaceholders])
    func `a global handler receives URLs that no pattern matches`(
        conventions: RoutingConventions
    ) async throws {
        let bus = MessageBus(configuration: .quiet(by: conventions))
        let navigator = try Navigator(bus: bus, presenter: NotingPresenter())
        try navigator.register("app://home", Home.self)
        try navigator.setGlobalHandler(uncaughtOf: ["APP", "other"]) { request in
            request.destinationName == nil
                ? .handled("\(request.transition) \(request.segments)") : .proceed
        }
        #expect(try await bus.route("app://push/no/where") == #"push ["no", "where"]"#)
        #expect(try await bus.route("other://present/no") == #"present ["no"]"#)
        #expect(try await bus.route("app://home", as: Home.self).description == "home")
        #expect(bus.canRoute("app://push/no/where"))
        try navigator.setGlobalHandler(uncaughtOf: ["app"]) { _ in .handled("the last one set") }
        #expect(try await bus.route("app://no/where") == "the last one set")
    }

    @Test
    func `a replaced global handler may capture an object whose deinit uses the navigator`() async throws {
        let navigator = self.screens.navigator
        do {
            let guest = Guest { try? navigator.setGlobalHandler { _ in .handled("set by a deinitializer") } }
            try navigator.setGlobalHandler(uncaughtOf: ["app"]) { _ in
                guest.greet()
                return .handled("captures an object")
            }
        }
        try navigator.setGlobalHandler { _ in .handled("replaces it") }
        #expect(try await self.bus.route("app://no/where") == "set by a deinitializer")
    }

    @Test
    func `a global handler for a connected scheme is a conflict`() async throws {
        struct Echo: Connector {
            func route(_ message: Message) async throws -> any Sendable { message.address.text }
        }
        try self.bus.connect("app", to: Echo())
        let error = await failure {
            try self.screens.navigator.setGlobalHandler(uncaughtOf: ["app"]) { _ in .handled() }
        }
        #expect(error?.code == .conflict)
        #expect(try await self.bus.route("app://no/where") == "app://no/where")
    }

    @Test
    func `observers receive changes before and after, with source and destination`() async throws {
        let (all, pages) = (Journal<String>(), Journal<NavigationEvent.Kind>())
        self.screens.navigator.observe { event in
            let source = event.source.map { "\($0.value)" } ?? "nothing"
            all.add("\(event.kind) \(event.destination.value) by \(event.transition) from \(source)")
        }
        let end = self.screens.navigator.observe("Page") { pages.add($0.kind) }
        try await self.screens.open("app://root/home", "app://push/page/1", "app://root/cart")
        end()
        await self.screens.presenter.fail(with: Broken())
        _ = await failure { try await self.bus.route("app://push/page/2") }
        #expect(
            all.entries == [
                "willPerform home by root from nothing", "didPerform home by root from nothing",
                "willPerform page1 by push from home", "didPerform page1 by push from home",
                "willRemove page1 by root from home", "willRemove home by root from nothing",
                "willPerform cart by root from page1", "didRemove page1 by root from home",
                "didRemove home by root from nothing", "didPerform cart by root from page1",
                "willPerform page2 by push from cart",
            ]
        )
        #expect(pages.entries == [.willPerform, .didPerform, .willRemove, .didRemove])
    }

    @Test
    func `a navigation request has the parts of its URL`() async throws {
        let journal = Journal<NavigationRequest>()
        try self.screens.navigator.register("app://user/:id/detail", named: "detail") { request in
            journal.add(request)
            return "detail"
        }
        let reply = try await self.bus.route("APP://Present/user/%E7%94%A8/detail?a=1&b=%20#app://home")
        let request = try #require(journal.entries.first)
        #expect(request.url == "APP://Present/user/%E7%94%A8/detail?a=1&b=%20#app://home")
        #expect(request.scheme == "app")
        #expect(request.host == nil)
        #expect(request.path == "user/%E7%94%A8/detail")
        #expect(request.segments == ["user", "用", "detail"])
        #expect(request.transition == .present)
        #expect(request.query == ["a": "1", "b": " "])
        #expect(request.fragment == "app://home")
        #expect(request.destinationName == "detail")
        #expect(request.presenter == "main")
        #expect(request.id == reply.correlationID)
    }
}
