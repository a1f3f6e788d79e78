import Testing
import Waybill
import WaybillEventLoop
import WaybillTestSupport

/// The return URL in a handler, and the information about it for the caller.
@Suite(.timeLimit(.minutes(1)), .alsoElsewhere)
struct ReturnLegTests {
    let modules = CalledModules.underTest()
    var bus: MessageBus { self.modules.bus }
    var caller: MessageBus { self.modules.caller }
    let heard = Journal<String>()
    /// The bus whose statistics count return legs.
    ///
    /// In a cluster it is the bus of the node that answers.
    var sender: MessageBus { self.isForwarded ? self.bus : self.caller }
    var isForwarded: Bool { self.modules.place == .cluster }

    private struct Refusal: Error {}

    init() throws {
        let heard = self.heard
        for scheme in ["app", "other"] {
            try self.bus.register("\(scheme)://home/:place") { message in
                heard.add("\(message.address) \(message.payload ?? "nothing")")
            }
        }
        try self.bus.register("app://broken/home") { _ in throw Refusal() }
    }

    /// Registers a handler that is called in place, that suspends, or that is on another loop.
    private func register(
        _ kind: ReturnURLTests.Kind,
        _ body: @escaping @Sendable (Message) throws -> Int
    ) throws {
        switch kind {
        case .now: try self.bus.register("app://pay", body)
        case .later:
            try self.bus.register("app://pay") { message -> Int in
                await Task.yield()
                return try body(message)
            }
        case .far:
            try self.bus.register("app://pay", on: Probe(eventLoop: EventLoop())) { _, message in
                try body(message)
            }
        }
    }

    private func name(_ outcome: ReturnLeg.Outcome?) -> String {
        switch outcome {
        case .none: "none"
        case .underway: "underway"
        case .delivered: "delivered"
        case .failed(let error): "\(error.code)"
        case .declined: "declined"
        case .forwarded: "forwarded"
        @unknown default: "unknown"
        }
    }

    @Test(arguments: ReturnURLTests.Kind.allCases, RouteTests.Place.allCases)
    func `the reply reports the outcome of its return leg`(
        kind: ReturnURLTests.Kind,
        place: RouteTests.Place
    ) async throws {
        try self.register(kind) { _ in 42 }
        try self.bus.register("app://home/late") { _ in await Task.yield() }
        let caller = self.caller
        for (fragment, expected) in [
            ("home/a", "delivered"), ("home/late", "delivered"), ("nobody/home", "noRoute"),
            ("broken/home", "handlerFailed"), ("chapter", "none"),
        ] {
            let (reply, outcome) = try await RouteTests.run(place, caller) {
                let reply = try await caller.route("app://pay#\(fragment)")
                return (reply, await reply.returnLeg?.outcome)
            }
            let name = self.isForwarded && expected != "none" ? "forwarded" : expected
            #expect(self.name(outcome) == name)
            #expect(self.name(reply.returnLeg?.current) == name)
            #expect(reply.value as? Int == 42)
            guard let leg = reply.returnLeg else { continue }
            #expect(leg.url == "app://\(fragment)" && leg.correlationID == reply.correlationID)
        }
        #expect(try await caller.route("app://pay").returnLeg == nil)
    }

    @Test(
        .inProcessOnly("a handler sees a URL of the connector in place of a return URL"),
        arguments: ReturnURLTests.Kind.allCases
    )
    func `a handler can read the return URL of its message`(kind: ReturnURLTests.Kind) async throws {
        let seen = Journal<String>()
        try self.register(kind) { message in
            seen.add(message.returnURL ?? "none")
            return 42
        }
        for fragment in ["", "#home/a", "#other://home/a", "#chapter", "#other%3A%2F%2Fhome%2Fa"] {
            try await self.caller.route("app://pay\(fragment)")
        }
        #expect(seen.entries == ["none", "app://home/a", "other://home/a", "none", "other://home/a"])
    }

    @Test(arguments: ReturnURLTests.Kind.allCases)
    func `a handler can send its return value early, and only once`(kind: ReturnURLTests.Kind) async throws {
        let done = Journal<Bool>()
        try self.register(kind) { message in
            done.add(message.sendReturn("early"))
            done.add(message.sendReturn("again"))
            done.add(message.declineReturn())
            done.add(message.replaceReturnURL(with: "home/b"))
            done.add(message.returnURL == nil)
            return 42
        }
        let reply = try await self.caller.route("app://pay#home/a")
        #expect(self.name(await reply.returnLeg?.outcome) == (self.isForwarded ? "forwarded" : "delivered"))
        #expect(done.entries == [true, false, false, false, true])
        #expect(await eventually { self.heard.entries == ["app://home/a early"] })
        #expect(self.sender.statistics.sent == 2)
    }

    @Test func `a return value that was sent early is delivered, even if the handler fails`() async throws {
        try self.register(.later) { message in
            message.sendReturn(1)
            throw Refusal()
        }
        #expect(await failure { try await self.caller.route("app://pay#home/a") }?.code == .handlerFailed)
        #expect(await eventually { self.heard.entries == ["app://home/a 1"] })
    }

    @Test(
        .inProcessOnly("the value then goes where the handler's own bus says"),
        arguments: ReturnURLTests.Kind.allCases
    )
    func `a handler can replace the return URL`(kind: ReturnURLTests.Kind) async throws {
        try self.register(kind) { message in
            let place = message.parameters["place"] ?? ""
            return message.replaceReturnURL(with: place) && message.returnURL != nil ? 42 : 0
        }
        for (place, url) in [
            ("home/b", "app://home/b"), ("/home/c", "app://home/c"), ("other://home/d", "other://home/d"),
        ] {
            let reply = try await self.caller.route("app://pay#home/a", parameters: ["place": place])
            #expect(self.name(await reply.returnLeg?.outcome) == "delivered")
            #expect(reply.returnLeg?.url == url)
            #expect(self.heard.entries.last == "\(url) 42")
        }
        let reply = try await self.caller.route("app://pay#home/a", parameters: ["place": ""])
        #expect(self.name(await reply.returnLeg?.outcome) == "invalidURL")
    }

    @Test(arguments: ReturnURLTests.Kind.allCases)
    func `a handler can decline the return leg`(kind: ReturnURLTests.Kind) async throws {
        try self.register(kind) { $0.declineReturn() ? 42 : 0 }
        let reply = try await self.caller.route("app://pay#home/a")
        #expect(self.name(await reply.returnLeg?.outcome) == (self.isForwarded ? "forwarded" : "declined"))
        #expect(reply.value as? Int == 42)
        #expect(self.caller.statistics.sent == 1)
        #expect(try await self.caller.route("app://pay#home/a", as: Int.self) == 42)
        self.caller.send("app://pay#home/a")
        #expect(await self.caller.settles() && self.caller.statistics.sent == 3)
    }

    @Test func `a handler of a message without a return URL cannot decline or replace it`() async throws {
        let done = Journal<[Bool]>()
        let act: @Sendable (Message) -> Void = { message in
            done.add([
                message.sendReturn(1), message.replaceReturnURL(with: "home/a"), message.declineReturn(),
                message.returnURL != nil,
            ])
        }
        try self.bus.register("app://page") { act($0) }
        try self.bus.subscribe("app://page") { act($0) }
        try await self.caller.route("app://page")
        try await self.caller.route("app://page#chapter")
        try await self.bus.publish("app://page#home/a")
        #expect(done.entries == Array(repeating: [false, false, false, false], count: 3))
    }

    @Test func `a failed message to a return URL is a dead letter, and the reply succeeds`() async throws {
        let letters = self.sender.deadLetters
        try self.register(.now) { _ in 42 }
        let reply = try await self.caller.route("app://pay#nobody/home")
        var watcher = letters.makeAsyncIterator()
        let letter = await watcher.next()
        #expect(letter?.url == "app://nobody/home" && letter?.error.code == .noRoute)
        #expect(letter?.message?.correlationID == reply.correlationID)
        #expect(letter?.message?.payload as? Int == 42)
    }

    @Test(arguments: [false, true])
    func `nested return URLs are followed up to the hop limit`(isEncoded: Bool) async throws {
        let letters = self.sender.deadLetters
        let count = Journal<Int>()
        try self.register(.now) { _ in
            count.add(1)
            return 42
        }
        let place = isEncoded ? "app%3A%2F%2Fpay" : "app://pay"
        let nested = Array(repeating: place, count: 30).joined(separator: "#")
        try await self.caller.route("app://pay#\(nested)")
        var watcher = letters.makeAsyncIterator()
        #expect(await watcher.next()?.error.code == .hopLimitExceeded)
        // The hop to the other bus counts too.
        #expect(count.count == (self.modules.isConnected ? 16 : 17))
    }

    @Test func `a return URL that is encoded once per level is decoded completely`() async throws {
        try self.register(.now) { _ in 42 }
        let home = "app%253A%252F%252Fhome%252Fa%253Fb%253Dc"
        try await self.caller.route("app://pay#app%3A%2F%2Fpay%23\(home)")
        #expect(await eventually { self.heard.entries == ["app://home/a?b=c 42"] })
    }

    @Test func `only the last reply of a sequence has the return leg`() async throws {
        try self.bus.register("app://pay") { message -> Int in
            await message.reply(with: 1)
            return 42
        }
        var legs: [ReturnLeg?] = []
        for try await reply in self.caller.replies(to: "app://pay#home/a") { legs.append(reply.returnLeg) }
        #expect(legs.count == 2 && legs[0] == nil)
        #expect(self.name(await legs[1]?.outcome) == (self.isForwarded ? "forwarded" : "delivered"))
    }

    @Test(
        .exceptInCluster("the caller's trace ends with what is forwarded"),
        arguments: [RouteTests.Place.outside, .home]
    )
    func `a caller that is cancelled does not wait for the return leg`(place: RouteTests.Place) async throws {
        let never = Gate()
        try self.register(.now) { _ in 42 }
        try self.bus.register("app://slow/home") { _ in await never.wait() }
        let caller = self.caller
        let reply = try await caller.route("app://pay#slow/home")
        let waiter = Task { await RouteTests.run(place, caller) { await reply.returnLeg?.outcome } }
        await Task.yield()
        waiter.cancel()
        #expect(self.name(await waiter.value) == "underway")
        never.open()
        #expect(self.name(await reply.returnLeg?.outcome) == "delivered")
    }

    @Test(.inProcessOnly("it makes a bus of its own"))
    func `a kept reply does not retain the bus`() async throws {
        var bus: MessageBus? = MessageBus(configuration: .quiet)
        weak let loop = bus?.eventLoop
        try bus?.register("app://pay") { _ in 42 }
        try bus?.register("app://home/a") { _ in }
        let reply = try await bus?.route("app://pay#home/a")
        #expect(self.name(await reply?.returnLeg?.outcome) == "delivered")
        bus = nil
        #expect(await eventually { loop == nil })
        #expect(reply?.returnLeg?.url == "app://home/a")
    }
}
