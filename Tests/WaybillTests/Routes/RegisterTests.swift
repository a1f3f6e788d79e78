import Testing
import Waybill
import WaybillEventLoop
import WaybillTestSupport

@Suite(.timeLimit(.minutes(1)))
struct RegisterTests {
    struct User: Sendable, Equatable {
        var uid: Int
        var name = ""
    }

    let bus = MessageBus(configuration: .quiet)

    @Test func `a closure that does not suspend can handle a URL`() async throws {
        try self.bus.register("app://user/:uid") { User(uid: try $0.parameters.require("uid")) }
        let user: User = try await self.bus.route("app://user/7")
        #expect(user == User(uid: 7))
    }

    @Test func `a closure that suspends can handle a URL`() async throws {
        try self.bus.register("app://user/:uid") { message -> User in
            await Task.yield()
            return User(uid: try message.parameters.require("uid"))
        }
        let user: User = try await self.bus.route("app://user/7")
        #expect(user == User(uid: 7))
    }

    @Test(arguments: [true, false])
    func `an actor's handler runs on the actor's loop, the bus's or another`(isOnBus: Bool) async throws {
        let probe = Probe(eventLoop: isOnBus ? self.bus.eventLoop : EventLoop(name: "other"))
        try self.bus.register("app://now/:n", on: probe) { $0.hear(try $1.parameters.require("n")) }
        try self.bus.register("app://later/:n", on: probe) { probe, message -> Int in
            await Task.yield()
            return probe.hear(try message.parameters.require("n"))
        }
        let now: Int = try await self.bus.route("app://now/1")
        let later: Int = try await self.bus.route("app://later/2")
        #expect(now == 1 && later == 2)
        #expect(await probe.heard == [1, 2])
    }

    @Test func `a call to a bound object's URL returns the object`() async throws {
        let gate = Gate()
        try self.bus.register("app://gate", object: gate)
        let found: Gate = try await self.bus.route("app://gate")
        #expect(found === gate)
    }

    @Test func `a handler that returns nothing replies with an empty tuple`() async throws {
        try self.bus.register("app://quiet") { _ in }
        let reply = try await self.bus.route("app://quiet")
        #expect(reply.value is Void && reply.isLast && reply.url == "app://quiet")
        let _: Void = try await self.bus.route("app://quiet")
    }

    @Test(arguments: ["app://number", "app://late", "app://other/late"])
    func `a caller that asks for Void discards the value`(url: String) async throws {
        let other = Probe(eventLoop: EventLoop())
        try self.bus.register("app://number") { _ in 1 }
        try self.bus.register("app://late") { _ -> Int in
            await Task.yield()
            return 1
        }
        try self.bus.register("app://other/late", on: other) { _, _ in 1 }
        let _: Void = try await self.bus.route(url)
        try await self.bus.route(url, parameters: ["a": 1], as: Void.self)
        try await Probe(eventLoop: self.bus.eventLoop).run {
            try await bus.route(url, as: Void.self)
        }
    }

    @Test(arguments: ["app://none", "app://some"])
    func `an optional value arrives unchanged`(url: String) async throws {
        try self.bus.register("app://none") { _ -> User? in nil }
        try self.bus.register("app://some") { _ -> User? in User(uid: 1) }
        let value = try await self.bus.route(url, as: User?.self)
        #expect(value == (url == "app://none" ? nil : User(uid: 1)))
    }

    @Test(arguments: [("user/1", "app://user/1"), ("app://user/2", "user/2"), ("/user/3", "APP:///user/3/")])
    func `a URL or a pattern without a scheme has the default scheme`(
        pattern: String,
        url: String
    ) async throws {
        try self.bus.register(pattern) { _ in pattern }
        #expect(try await self.bus.route(url, as: String.self) == pattern)
    }

    @Test func `a bus can have another default scheme`() async throws {
        let bus = MessageBus(configuration: .init(defaultScheme: "shop"))
        try bus.register("cart") { $0.address.scheme }
        #expect(try await bus.route("shop://cart", as: String.self) == "shop")
        #expect(!bus.canRoute("app://cart"))
    }

    @Test func `a passed value takes precedence over the path, and the path over the query`() async throws {
        try self.bus.register("app://a/:x/:y") { message -> [String] in
            try ["x", "y", "z"].map { try message.parameters.require($0) }
        }
        let values: [String] = try await self.bus.route(
            "app://a/path/path?x=query&y=query&z=query",
            parameters: ["x": "call"]
        )
        #expect(values == ["call", "path", "query"])
    }

    @Test func `values without a text form are passed with the call`() async throws {
        let probe = Probe(eventLoop: self.bus.eventLoop)
        try self.bus.register("app://carry") { message -> Int in
            let twice = message.parameters.call["twice"] as? @Sendable (Int) -> Int
            let probe = message.parameters.call["probe"] as? Probe
            let number: Int = try message.parameters.require("number")
            return (twice?(number) ?? 0) + (probe == nil ? 0 : 1)
        }
        let twice: @Sendable (Int) -> Int = { $0 * 2 }
        let sum: Int = try await self.bus.route(
            "app://carry",
            parameters: ["twice": twice, "probe": probe, "number": 21]
        )
        #expect(sum == 43)
    }

    @Test(arguments: [("app://a/:x", "app://a/:y"), ("app://a/b", "a/b"), ("app://:x", "APP://:y")])
    func `a conflict names the registered pattern and both places`(first: String, second: String) throws {
        try self.bus.register(first, fileID: "First/file.swift", line: 11) { _ in }
        let error = #expect(throws: RoutingError.self) {
            try self.bus.register(second, fileID: "Second/file.swift", line: 22) { _ in }
        }
        #expect(error?.code == .conflict && error?.url == second)
        for part in [first, "First/file.swift:11", "Second/file.swift:22"] {
            #expect(error?.message.contains(part) == true)
        }
    }

    @Test func `a failed registration changes nothing`() async throws {
        try self.bus.register("app://a") { _ in 1 }
        #expect(throws: RoutingError.self) { try self.bus.register("app://a") { _ in 2 } }
        #expect(try await self.bus.route("app://a", as: Int.self) == 1)
        #expect(self.bus.routes.count == 1)
    }

    @Test(arguments: ["", "app://%ff", "app://a/%zz%80"])
    func `registering an invalid pattern fails`(pattern: String) {
        let error = #expect(throws: RoutingError.self) { try self.bus.register(pattern) { _ in } }
        #expect(error?.code == .invalidPattern)
    }

    @Test func `a bus lists routes in the order of registration, with their places`() throws {
        try self.bus.register("app://b/:id", fileID: "M/b.swift", line: 1) { _ in }
        try self.bus.register("app://a", fileID: "M/a.swift", line: 2) { _ in }
        let routes = self.bus.routes
        #expect(routes.map { "\($0.pattern)" } == ["app://b/:id", "app://a"])
        #expect(routes.map { "\($0.fileID):\($0.line)" } == ["M/b.swift:1", "M/a.swift:2"])
    }

    @Test
    func `a module that cannot be installed leaves the routes that it would replace`()
        async throws
    {
        var configuration = MessageBus.Configuration.quiet
        configuration.conventions.sameShape = .replaces
        configuration.limits.routes = 2
        let bus = MessageBus(configuration: configuration)
        let begun = Gate()
        let held = Gate()
        let first = try bus.register("app://greeter/one") { _ in
            begun.open()
            await held.wait()
            return "old"
        }
        async let waiting: String = bus.route("app://greeter/one")
        await begun.wait()
        let error = await #expect(throws: RoutingError.self) { try await bus.install { Greeters() } }
        #expect(error?.code == .invalidPattern)
        held.open()
        #expect(try await waiting == "old")
        #expect(bus.routes.map { "\($0.pattern)" } == ["app://greeter/one"])
        #expect(try await bus.route("app://greeter/one") == "old")
        first.cancel()
        #expect(!bus.canRoute("app://greeter/one"))
    }

    @Test func `installing a module twice fails with the place of the first installation`() async throws {
        try await self.bus.install(fileID: "Shop/main.swift", line: 7) { Greeters() }
        let error = await failure { try await self.bus.install { Greeters() } }
        #expect(error?.code == .conflict && error?.url == "app://greeter/one")
        #expect(error?.message.hasPrefix("`Greeters` is installed already (Shop/main.swift:7): ") == true)
    }
}

private actor Greeters: Module {
    static let url = "app://greeter"
    nonisolated let context = ModuleContext.current

    static var routes: [ModuleRoute<Greeters>] {
        ["one", "two", "three"].map { name in
            ModuleRoute("app://greeter/\(name)", action: name) { _, _ in "new" }
        }
    }
}
