import Testing
import Waybill
import WaybillCompatibility
import WaybillEventLoop
import WaybillTestSupport

@Suite(.timeLimit(.minutes(1)), .alsoElsewhere)
struct ReturnURLTests {
    let modules = CalledModules.underTest()
    var bus: MessageBus { self.modules.bus }
    var caller: MessageBus { self.modules.caller }
    let heard = Journal<String>()
    /// The bus whose statistics count return legs.
    ///
    /// In a cluster it is the bus of the node that answers.
    var sender: MessageBus { self.modules.place == .cluster ? self.bus : self.caller }

    init() throws {
        let heard = self.heard
        for scheme in ["app", "other"] {
            try self.bus.register("\(scheme)://home/:place") { message in
                let value = try message.payload(as: Int.self)
                heard.add("\(message.address) \(value) \(message.correlationID.map { "\($0)" } ?? "nobody")")
            }
        }
        try self.bus.register("app://door") { heard.add("door \($0.payload as? Int ?? 0)") }
    }

    enum Kind: String, CaseIterable, Sendable { case now, later, far }

    private func register(_ kind: Kind) throws {
        let far = Probe(eventLoop: EventLoop())
        switch kind {
        case .now: try self.bus.register("app://pay") { _ in 42 }
        case .later:
            try self.bus.register("app://pay") { _ in
                await Task.yield()
                return 42
            }
        case .far: try self.bus.register("app://pay", on: far) { _, _ in 42 }
        }
    }

    @Test(arguments: Kind.allCases, RouteTests.Place.allCases)
    func `the return URL receives the value, and the request's ID`(
        kind: Kind,
        place: RouteTests.Place
    ) async throws {
        try self.register(kind)
        let caller = self.caller
        let reply = try await RouteTests.run(place, caller) {
            try await caller.route("app://pay#app://home/a")
        }
        #expect(reply.value as? Int == 42)
        #expect(await eventually { self.heard.count == 1 })
        #expect(self.heard.entries == ["app://home/a 42 \(reply.correlationID)"])
        let value = try await RouteTests.run(place, caller) {
            try await caller.route("app://pay#home/b", as: Int.self)
        }
        #expect(value == 42)
        #expect(await eventually { self.heard.count == 2 })
        #expect(await caller.settles())
        #expect(await eventually { self.sender.statistics.replied == 4 })
        #expect(self.sender.statistics.sent == 4)
    }

    @Test(arguments: Kind.allCases)
    func `a sent message has a return leg`(kind: Kind) async throws {
        try self.register(kind)
        self.caller.send("app://pay#home/a")
        #expect(await eventually { self.heard.count == 1 })
    }

    @Test(arguments: [
        ("home/a", "app://home/a"), ("/home/a", "app://home/a"), ("other://home/a", "other://home/a"),
        ("OTHER:///home/a", "OTHER:///home/a"), ("other%3A%2F%2Fhome%2Fa", "other://home/a"),
    ])
    func `a return URL without a scheme inherits the scheme of the message`(
        fragment: String,
        url: String
    ) async throws {
        try self.register(.now)
        try await self.caller.route("app://pay#\(fragment)")
        #expect(await eventually { self.heard.entries.first?.hasPrefix("\(url) 42") == true })
    }

    @Test func `return URLs can be nested`() async throws {
        try self.register(.now)
        try self.bus.register("app://double") { try $0.payload(as: Int.self) * 2 }
        try await self.caller.route("app://pay#app://double#app://double#app://home/a")
        #expect(await eventually { self.heard.entries.first?.hasPrefix("app://home/a 168 ") == true })
    }

    @Test(arguments: ["nobody/home", "tel://123", "broken/home"])
    func `a return leg that fails does not fail the first message`(fragment: String) async throws {
        try self.register(.now)
        try self.bus.register("app://broken/home") { _ in throw CancellationError() }
        #expect(try await self.caller.route("app://pay#\(fragment)", as: Int.self) == 42)
        #expect(await eventually { self.sender.statistics.deadLettered == 1 })
        #expect(self.sender.statistics.replied == 1 && self.sender.statistics.sent == 2)
    }

    @Test(arguments: ["chapter", "", "nobody", "a=b", "%"])
    func `a fragment that is not a URL is left to the handler`(fragment: String) async throws {
        try self.bus.register("app://page") { $0.address.fragment ?? "none" }
        let seen: String = try await self.caller.route("app://page#\(fragment)")
        #expect(seen == fragment)
        #expect(self.caller.statistics.sent == 1)
    }

    @Test func `a fragment of one segment is a return URL if a route matches it`() async throws {
        try self.register(.now)
        try await self.caller.route("app://pay#door")
        #expect(await eventually { self.heard.entries == ["door 42"] })
    }

    @Test func `a failed message has no return leg`() async throws {
        try self.bus.register("app://broken") { _ in throw CancellationError() }
        _ = await failure { try await self.caller.route("app://broken#home/a") }
        #expect(self.caller.statistics.sent == 1)
    }

    @Test(arguments: [Kind.now, .later])
    func `the caller's deadline does not apply to the return leg`(kind: Kind) async throws {
        try self.register(kind)
        let deadlines = Journal<ContinuousClock.Instant?>()
        try self.bus.register("app://after") { deadlines.add($0.deadline) }
        try await self.caller.route("app://pay#after", deadline: .now + .seconds(60), as: Void.self)
        #expect(await eventually { deadlines.entries == [nil] })
    }

    @Test(arguments: [Kind.now, .later])
    func `a return leg does not inherit the deadline of the task that runs its message`(
        kind: Kind
    ) async throws {
        try self.register(kind)
        let bus = self.bus
        let begun = Gate()
        let held = Gate()
        let deadlines = Journal<ContinuousClock.Instant?>()
        try bus.register("app://late") { deadlines.add($0.deadline) }
        try bus.register("app://asks") { [weak bus] _ in
            begun.open()
            held.block()
            // The drain that delivers this message also runs the messages that have arrived for the module.
            try await bus?.route("app://pay", as: Void.self)
        }
        let caller = self.caller
        async let answer = caller.route("app://asks", deadline: .now + .seconds(60))
        await begun.wait()
        caller.send("app://pay#late")
        held.open()
        _ = try await answer
        #expect(await eventually { deadlines.entries == [nil] })
    }

    @Test(
        .inProcessOnly("a handler sees a URL of the connector in place of a return URL"),
        arguments: [1, 16, 17, 4_000]
    )
    func `a fragment that was encoded repeatedly is decoded at most once for each hop`(
        times: Int
    ) async throws {
        try self.bus.register("app://page") { $0.address.fragment ?? "none" }
        let heard = self.heard
        try self.bus.register("app://home/a") { _ in heard.add("home") }
        let fragment = "home%" + String(repeating: "25", count: times - 1) + "2Fa"
        #expect(try await self.caller.route("app://page#\(fragment)", as: String.self) == fragment)
        #expect(await self.caller.settles())
        let limit = MessageBus.Configuration.quiet.hopLimit
        #expect(heard.entries == (times <= limit ? ["home"] : []))
    }

    @Test(
        .inProcessOnly("it makes a bus of its own"),
        arguments: [
            (RoutingConventions.Host.isFirstSegment, "order/list", "order/list"),
            (.isFirstSegment, "v1.2/list", "v1.2/list"),
            (.isFirstSegment, "//order/list", "order/list"),
            (.isFirstSegment, "other://order/list", "order/list"),
            (.isFirstSegmentUnlessDotted, "order/list", "order/list"),
            (.isFirstSegmentUnlessDotted, "v1.2/list", "v1.2/list"),
            (.isFirstSegmentUnlessDotted, "/v1.2/list", "v1.2/list"),
            (.isFirstSegmentUnlessDotted, "//v1.2/list/all", "list/all"),
            (.isFirstSegmentUnlessDotted, "other://v1.2/list/all", "list/all"),
            (.isIgnored, "order/list", "order/list"),
            (.isIgnored, "/order/list", "order/list"), (.isIgnored, "///order/list", "order/list"),
            (.isIgnored, "//host/order/list", "order/list"),
            (.isIgnored, "other://host/order/list", "order/list"),
            (.isIgnored, "order%2Flist", "order/list"),
        ]
    )
    func `a return URL keeps its segments under each convention for hosts`(
        host: RoutingConventions.Host,
        fragment: String,
        segments: String
    ) async throws {
        var conventions = RoutingConventions.waybill
        conventions.host = host
        var configuration = MessageBus.Configuration.quiet
        configuration.conventions = conventions
        let bus = MessageBus(configuration: configuration)
        let heard = Journal<String>()
        try bus.register("app:///pay") { _ in 42 }
        for scheme in ["app", "other"] {
            try bus.register("\(scheme):///**") { message in
                heard.add(message.address.segments.joined(separator: "/"))
            }
        }
        let reply = try await bus.route("app:///pay#\(fragment)")
        if case .delivered = await reply.returnLeg?.outcome {} else { Issue.record("the value is lost") }
        #expect(heard.entries == [segments])
    }

    @Test(.inProcessOnly("it makes a bus of its own"))
    func `a return URL under FTRouter's conventions keeps a dotted host, and drops the verb`() async throws {
        var configuration = MessageBus.Configuration.quiet
        configuration.conventions = .ftRouter
        let bus = MessageBus(configuration: configuration)
        let heard = Journal<String>()
        try bus.register("app://pay") { _ in 42 }
        try bus.register("app:///v1.2/list") { _ in heard.add("list") }
        for fragment in ["v1.2/list", "push/v1.2/list"] {
            let reply = try await bus.route("app://pay#\(fragment)")
            _ = await reply.returnLeg?.outcome
        }
        #expect(heard.entries == ["list", "list"])
    }
}
