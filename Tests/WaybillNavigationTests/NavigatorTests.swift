import Testing
import Waybill
import WaybillNavigation
import WaybillRouting
import WaybillTestSupport

@Suite(.timeLimit(.minutes(1)))
struct NavigatorTests {
    private let screens: Screens
    private var bus: MessageBus { self.screens.bus }

    init() throws { self.screens = try Screens() }

    @Test
    func `URLs push, present, embed, replace the root, and go back`() async throws {
        try await self.screens.open(
            "app://ROOT/home",
            "app://push/page/1?tab=info#",
            "page/2",
            "app://Present/page/3",
            "app://embed/page/4"
        )
        #expect(
            await self.screens.links() == [
                "app://root/home", "app://push/page/1?tab=info", "app://push/page/2", "app://present/page/3",
                "app://embed/page/4",
            ]
        )
        try await self.screens.open("app://back", "app://back?count=2")
        #expect(await self.screens.links() == ["app://root/home", "app://push/page/1?tab=info"])
        try await self.screens.open("app://push/page/7", "app://push/page/8", "app://back/page/1")
        try await self.screens.open("app://push/page/9", "app://root")
        #expect(
            self.screens.journal.entries == [
                "show by root: home", "show by push: home page1.info", "show by push: home page1.info page2",
                "show by present: home page1.info page2 page3",
                "show by embed: home page1.info page2 page3 page4",
                "remove by back: home page1.info page2 page3", "remove by back: home page1.info",
                "show by push: home page1.info page7", "show by push: home page1.info page7 page8",
                "remove by back: home page1.info", "show by push: home page1.info page9",
                "remove by root: home",
            ]
        )
    }

    @Test
    func `a caller receives the destination created from the parameters`() async throws {
        let page: Page = try await self.bus.route("app://push/page/7?tab=a%20b&other=ignored")
        #expect(page == Page(id: 7, tab: "a b"))
        let passed: Page = try await self.bus.route("app://push/page/8", parameters: ["tab": "given"])
        #expect(passed.tab == "given")
        let state: NavigationState = try await self.bus.route("app://back")
        #expect(state.top()?.url == "app://page/7?tab=a%20b&other=ignored")
    }

    @Test
    func `a parameter of another type fails with its name, and the state is unchanged`() async throws {
        try await self.screens.open("app://root/home")
        let error = await failure { try await self.bus.route("app://push/page/seven") }
        #expect(error?.code == .invalidParameter)
        #expect(error?.message.contains("id") == true)
        #expect(await self.screens.links() == ["app://root/home"])
    }

    @Test
    func `a failing presenter leaves the navigator's state unchanged`() async throws {
        try await self.screens.open("app://root/home", "app://push/cart?add=tea", "app://push/page/1")
        let before = await self.screens.navigator.state
        await self.screens.presenter.fail(with: Broken())
        for url in [
            "app://push/page/2", "app://root/page/2", "app://back", "app://cart?add=pot", "app://remove/cart",
        ] {
            let error = await failure { try await self.bus.route(url) }
            #expect(error?.code == .handlerFailed, "\(url)")
            #expect(error?.cause is Broken)
            #expect(await self.screens.navigator.state == before)
        }
        await self.screens.presenter.fail(with: RoutingError.refused("not now"))
        let error = await failure { try await self.screens.navigator.back() }
        #expect(error?.code == .refused)
        #expect(error?.message == "not now")
        let values = await self.screens.navigator.destinations().map { "\($0.value)" }
        #expect(values == ["home", "cart+tea", "page1"])
    }

    @Test
    func `an impossible navigation step is rejected with the reason`() async throws {
        try await self.screens.open("app://root/home")
        for (url, reason) in [
            ("app://back", "cannot go back by 1: 0 destinations are below"),
            ("app://back/page/1", "the destination is not shown"),
            ("app://remove/home", "the root cannot be removed: replace it with another root"),
        ] {
            let error = await failure { try await self.bus.route(url) }
            #expect(error?.code == .refused)
            #expect(error?.message == reason)
            #expect(error?.url == url)
        }
        #expect(await failure { try await self.bus.route("app://push/nowhere") }?.code == .noRoute)
        #expect(await failure { try await self.bus.route("app://push") }?.code == .noRoute)
        let headers = [NavigationRequest.presenterHeader: "left"]
        #expect(
            await failure { try await self.bus.route("app://home", headers: headers) }?.code == .noHandler
        )
    }

    @Test
    func `a reusable destination moves to the front with the new parameters`() async throws {
        try await self.screens.open("app://root/home", "app://push/cart?add=tea", "app://present/page/1")
        let id = await self.screens.navigator.state.stack()[1].id
        let cart: Cart = try await self.bus.route("app://push/cart?add=pot")
        #expect(cart.add == "pot")
        #expect(await self.screens.links() == ["app://root/home", "app://push/cart?add=pot"])
        #expect(await self.screens.navigator.state.top()?.id == id)
        #expect(self.screens.journal.entries.last == "update by push: home cart+pot")
    }

    @Test
    func `a reused object has its previous parameters again when the presenter fails`() async throws {
        let mailbox = Mailbox()
        try self.screens.navigator.register("app://mail/:folder") { request in
            await mailbox.open(try request.parameters.require("folder"))
            return mailbox
        }
        try await self.screens.open("app://root/mail/in", "app://push/mail/out")
        await self.screens.presenter.fail(with: Broken())
        #expect(await failure { try await self.bus.route("app://mail/spam") }?.code == .handlerFailed)
        #expect(await mailbox.folders == ["in", "out", "spam", "out"])
        #expect(await self.screens.links() == ["app://root/mail/out"])
    }

    @Test
    func `a request that waits for its turn is for the presenter that the earlier request activates`()
        async throws
    {
        let side = NotingPresenter()
        let gate = Gate()
        await self.screens.navigator.setPresenter(side, named: "side")
        try await self.screens.open("app://root/home")
        await side.wait(at: gate)
        let headers = [NavigationRequest.presenterHeader: "side"]
        async let first: Void = self.bus.route("app://root/page/1", headers: headers)
        await gate.reached()
        async let second: Void = self.bus.route("app://push/page/2")
        #expect(await eventually { self.bus.statistics.inFlight == 2 })
        for _ in 0..<100 { await Task.yield() }
        gate.open()
        _ = try await (first, second)
        #expect(side.journal.entries == ["show by root: page1", "show by push: page1 page2"])
        #expect(await self.screens.navigator.state.stack(of: "main").map(\.url) == ["app://home"])
    }

    @Test
    func `each presenter has its own stack, and the last changed one is active`() async throws {
        let side = NotingPresenter()
        await self.screens.navigator.setPresenter(side, named: "side")
        try await self.screens.open("app://root/home")
        let headers = [NavigationRequest.presenterHeader: "side"]
        try await self.bus.route("app://root/page/1", headers: headers)
        try await self.screens.open("app://push/page/2")
        #expect(side.journal.entries == ["show by root: page1", "show by push: page1 page2"])
        try await self.screens.navigator.activate("main")
        try await self.screens.open("app://push/page/3")
        let state = await self.screens.navigator.state
        #expect(state.stacks.mapValues { $0.map(\.url) }["main"] == ["app://home", "app://page/3"])
        // The step finds the destination in the stack of any presenter.
        try await self.screens.open("app://remove/page/2")
        #expect(await self.screens.navigator.state.stack(of: "side").map(\.url) == ["app://page/1"])
    }

    @Test
    func `the shown destinations are saved as URLs, and restored`() async throws {
        try await self.screens.open(
            "app://root/home",
            "app://push/page/1?tab=%E7%94%A8#x",
            "app://present/cart?add=tea",
            "app://embed/page/2"
        )
        let state = await self.screens.navigator.state
        let saved = state.urls
        let other = try Screens()
        try await other.navigator.restore(try NavigationState(urls: saved))
        #expect(await other.navigator.state == state)
        #expect(other.journal.entries == ["show by root: home page1.用 cart+tea page2"])
        // A later state replaces the shown one. A state with a URL that has no route changes nothing.
        let wrong = try NavigationState(urls: ["main": ["app://root/home", "app://push/nowhere"]])
        #expect(await failure { try await other.navigator.restore(wrong) }?.code == .handlerFailed)
        #expect(await other.navigator.state == state)
        let gone = try NavigationState(urls: ["main": ["app://root/home"]], active: "gone")
        #expect(await failure { try await other.navigator.restore(gone) }?.code == .noHandler)
        #expect(await other.navigator.state == state)
        try await other.navigator.restore(NavigationState())
        #expect(await other.navigator.state == NavigationState())
        #expect(other.journal.entries.last == "remove by root: ")
    }

    @Test
    func `navigation steps run one at a time, in the order in which they arrived`() async throws {
        try await self.screens.open("app://root/home")
        let gate = Gate()
        await self.screens.presenter.wait(at: gate)
        let first = Task { try await self.bus.route("app://push/page/1") }
        await gate.reached()
        let cancelled = Task { try await self.bus.route("app://push/page/2") }
        self.bus.send("app://push/page/3")
        self.bus.send("app://push/page/4")
        let last = Task { try await self.bus.route("app://push/page/5") }
        #expect(await eventually { self.bus.statistics.inFlight == 5 })
        cancelled.cancel()
        #expect(await failure { try await cancelled.value }?.code == .cancelled)
        gate.open()
        _ = try await first.value
        _ = try await last.value
        #expect(await self.bus.settles())
        let urls = await self.screens.navigator.state.stack().map(\.url)
        #expect(urls.prefix(2) == ["app://home", "app://page/1"])
        #expect(Set(urls.dropFirst(2)) == ["app://page/3", "app://page/4", "app://page/5"])
    }

    @Test(arguments: [false, true])
    func `a navigation step that awaits another step is rejected, and one that sends a step is not`(
        isIntercepted: Bool
    ) async throws {
        if isIntercepted { self.bus.use(Passing()) }
        let bus = self.bus
        let journal = Journal<RoutingError.Code?>()
        await self.screens.presenter.runOnce { [navigator = self.screens.navigator] in
            journal.add(await failure { try await bus.route("app://push/page/2") }?.code)
            journal.add(await failure { try await navigator.back() }?.code)
            bus.send("app://push/page/3")
        }
        try await self.screens.open("app://root/home")
        #expect(journal.entries == [.refused, .refused])
        #expect(await self.bus.settles())
        #expect(await self.screens.links() == ["app://root/home", "app://push/page/3"])
        await self.screens.presenter.runOnce { [navigator = self.screens.navigator] in
            journal.add(await failure { try await bus.route("app://push/page/4") }?.code)
            journal.add(await failure { try await navigator.back() }?.code)
        }
        try await self.screens.navigator.back()
        #expect(journal.entries == [.refused, .refused, .refused, .refused])
    }

    @Test
    func `a task that outlives its step can take its own step`() async throws {
        let bus = self.bus
        let task = Journal<Task<Void, any Error>>()
        await self.screens.presenter.runOnce {
            task.add(Task { try await bus.route("app://push/page/1") })
        }
        try await self.screens.open("app://root/home")
        try await task.entries[0].value
        #expect(await self.screens.links() == ["app://root/home", "app://push/page/1"])
    }

    @Test
    func `a saved navigation state keeps a host that is not a segment`() async throws {
        var conventions = RoutingConventions.navigation
        conventions.host = .isFirstSegmentUnlessDotted
        let bus = MessageBus(configuration: .quiet(by: conventions))
        let navigator = try Navigator(bus: bus, presenter: NotingPresenter())
        let journal = Journal<String>()
        try navigator.register("app:///market/:id") { request in
            journal.add("\(request.host ?? "-") \(request.path) \(request.transition)")
            return request.segments[1]
        }
        for url in ["app://futures.com/ROOT/market/1?a=b", "app://push/market/2", "market/3"] {
            try await bus.route(url)
        }
        #expect(journal.entries == ["futures.com market/1 root", "- market/2 push", "- market/3 push"])
        let urls = await navigator.state.urls
        #expect(
            urls == [
                "main": ["app://futures.com/root/market/1?a=b", "app://push/market/2", "app://push/market/3"]
            ]
        )
        let state = await navigator.state
        try await navigator.restore(try NavigationState(urls: urls, conventions: conventions))
        #expect(await navigator.state == state)
    }

    @Test
    func `a URL goes back to the destination with its path and its values`() async throws {
        try await self.screens.open("app://root/home", "app://push/page/1?tab=a&days=3", "app://push/page/2")
        #expect(await failure { try await self.bus.route("app://back/page/1?tab=b") }?.code == .refused)
        #expect(await failure { try await self.bus.route("app://back/page/1?tab=a&x=1") }?.code == .refused)
        try await self.screens.open("app://back/page/1?tab=a")
        #expect(await self.screens.links() == ["app://root/home", "app://push/page/1?tab=a&days=3"])
        try await self.screens.open("app://push/page/2", "app://remove/page/1?days=3")
        #expect(await self.screens.links() == ["app://root/home", "app://push/page/2"])
    }

    @Test
    func `a presenter receives the request, with the values that its caller passed`() async throws {
        let presenter = AnimatingPresenter()
        let bus = MessageBus(configuration: .quiet(by: .navigation))
        let navigator = try Navigator(bus: bus, presenter: presenter)
        try navigator.register("app://home", Home.self)
        try navigator.register("app://cart", Cart.self)
        try await bus.route("app://root/home", parameters: ["animated": false])
        try await bus.route("app://push/cart", parameters: ["animated": true])
        try await bus.route("app://push/cart?add=tea", parameters: ["animated": false])
        try await bus.route("app://back", parameters: ["animated": true])
        try await bus.route("app://push/cart", parameters: ["animated": true])
        try await navigator.back()
        #expect(
            presenter.journal.entries == [
                "root home false", "push cart true", "push cart false", "back  true", "push cart true",
                "back -",
            ]
        )
    }

    @Test
    func `a loaded configuration shows its destinations until its name is loaded again`() async throws {
        let navigator = self.screens.navigator
        try navigator.load(
            ["app://list": "List", "app://detail/:id": "Detail", "app://start": "app://home"],
            named: "market",
            destinations: ["List": { _ in "list" }, "Detail": { try $0.decode(Page.self) }]
        )
        try navigator.load(["app://other": "Other"], destinations: ["Other": { _ in "other" }])
        try await self.screens.open("app://root/start", "app://push/list", "app://present/other")
        let page: Page = try await self.bus.route("app://push/detail/7")
        #expect(page == Page(id: 7))
        let state = await navigator.state
        #expect(state.stack().map(\.name) == ["Home", "List", "Other", "Detail"])
        try navigator.load([:], named: "market", destinations: [:])
        #expect(!self.bus.canRoute("app://list") && self.bus.canRoute("app://other"))
        #expect(await navigator.state == state)
    }

    @Test
    func `without navigation conventions each URL pushes`() async throws {
        let bus = MessageBus(configuration: .quiet)
        let navigator = try Navigator(bus: bus, presenter: NotingPresenter())
        try navigator.register("app://page/:id", Page.self)
        try await bus.route("app://page/1")
        #expect(await failure { try await bus.route("app://present/page/2") }?.code == .noRoute)
        #expect(await failure { try await navigator.back(0) }?.code == .refused)
        #expect(await navigator.state.stack().map(\.transition) == [.push])
    }

    @Test
    func `a navigator that cannot register all of its schemes registers none`() async throws {
        let bus = MessageBus(configuration: .quiet(by: .navigation))
        try bus.register("shop://") { _ in }
        let error = await failure {
            _ = try Navigator(bus: bus, presenter: NotingPresenter(), schemes: ["app", "shop"])
        }
        #expect(error?.code == .conflict)
        _ = try Navigator(bus: bus, presenter: NotingPresenter(), schemes: ["app"])
        await bus.shutDown()
    }

    @Test
    func `a global handler that cannot receive the URLs of all schemes receives none`() async throws {
        try self.bus.connect("mail", to: Letters())
        let error = await failure {
            try self.screens.navigator.setGlobalHandler(uncaughtOf: ["shop", "mail"]) { _ in .proceed }
        }
        #expect(error?.code == .conflict)
        #expect(self.bus.connectedSchemes == ["mail"])
        try self.screens.navigator.setGlobalHandler(uncaughtOf: ["shop", "SHOP"]) { _ in .proceed }
        #expect(self.bus.connectedSchemes == ["mail", "shop"])
    }

    private struct Letters: Connector {
        nonisolated(nonsending) func route(_ message: Message) async throws -> any Sendable { () }
    }
}
