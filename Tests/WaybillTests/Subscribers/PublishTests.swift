import Testing
import Waybill
import WaybillEventLoop
import WaybillTestSupport

@Suite(.timeLimit(.minutes(1)))
struct PublishTests {
    let bus = MessageBus(configuration: .quiet)

    @Test(arguments: RouteTests.Place.allCases)
    func `each subscriber of a matching pattern receives a publication, whatever its kind`(
        place: RouteTests.Place
    ) async throws {
        let heard = Journal<String>()
        let far = Probe(eventLoop: EventLoop())
        try self.bus.subscribe("app://user/1/gone") { _ in heard.add("literal") }
        try self.bus.subscribe("app://user/:uid/gone") { heard.add("named \($0.parameters["uid"] ?? "")") }
        try self.bus.subscribe("app://user/:uid/gone") { message in
            await Task.yield()
            heard.add("late \(message.parameters["why"] ?? "") \(message.headers["a"] ?? "")")
        }
        try self.bus.subscribe("app://user/:id/*", on: far) { far, _ in
            far.eventLoop.preconditionInEventLoop()
            heard.add("far")
        }
        try self.bus.subscribe("app://user/1") { _ in heard.add("wrong") }
        let bus = self.bus
        let count = try await RouteTests.run(place, bus) {
            try await bus.publish("user/1/gone", parameters: ["why": "late"], headers: ["a": "b"])
        }
        #expect(count == 4)
        #expect(heard.entries.sorted() == ["far", "late late b", "literal", "named 1"])
        #expect(bus.statistics.sent == 4 && bus.statistics.replied == 4)
    }

    @Test func `a message without subscribers is not an error`() async throws {
        #expect(try await self.bus.publish("app://nothing") == 0)
        #expect(await failure { try await self.bus.publish("") }?.code == .invalidURL)
    }

    @Test func `a publication reaches the current subscribers, however often its URL was published`()
        async throws
    {
        let (bus, heard) = (self.bus, Journal<String>())
        try await Probe(eventLoop: bus.eventLoop).run {
            for _ in 0..<2 { #expect(try await bus.publish("app://a/1") == 0) }
            let first = try bus.subscribe("app://a/:n") { heard.add("first \($0.parameters["n"] ?? "")") }
            for _ in 0..<2 { #expect(try await bus.publish("app://a/1") == 1) }
            let second = try bus.subscribe("app://a/1") { _ in heard.add("second") }
            for _ in 0..<2 { #expect(try await bus.publish("app://a/1") == 2) }
            first.cancel()
            #expect(try await bus.publish("app://a/1") == 1)
            second.cancel()
            for _ in 0..<2 { #expect(try await bus.publish("app://a/1") == 0) }
            for _ in 0..<2 {
                #expect(await failure { try await bus.publish("") }?.code == .invalidURL)
                let long = "app://\(String(repeating: "x", count: 10_000))"
                #expect(await failure { try await bus.publish(long) }?.code == .invalidURL)
            }
        }
        #expect(heard.entries == ["first 1", "first 1", "first 1", "second", "first 1", "second", "second"])
    }

    @Test func `texts that look equal but have other bytes are two URLs`() async throws {
        let (bus, heard) = (self.bus, Journal<Int>())
        try bus.subscribe("app://:name") { heard.add($0.parameters["name"]?.utf8.count ?? 0) }
        try await Probe(eventLoop: bus.eventLoop).run {
            for _ in 0..<2 {
                try await bus.publish("app://caf\u{E9}-and-more")
                try await bus.publish("app://cafe\u{301}-and-more")
                try await bus.publish("app://\u{E9}")
                try await bus.publish("app://e\u{301}")
            }
        }
        #expect(heard.entries == [14, 15, 2, 3, 14, 15, 2, 3])
    }

    @Test func `a removed subscriber is released, although it was the last one published to`() async throws {
        final class Owned: Sendable {}
        let bus = self.bus
        weak var released: Owned?
        let subscription: Registration
        do {
            let owned = Owned()
            released = owned
            subscription = try bus.subscribe("app://a") { _ in _ = owned }
        }
        let probe = Probe(eventLoop: bus.eventLoop)
        try await probe.run { _ = try await bus.publish("app://a") }
        #expect(released != nil)
        subscription.cancel()
        #expect(await eventually { released == nil })
    }

    @Test func `a subscriber that fails does not affect the others`() async throws {
        let log = Journal<String>()
        let bus = MessageBus(configuration: .logging(to: log))
        try bus.subscribe("app://a") { _ in throw CancellationError() }
        try bus.subscribe("app://a") { _ in }
        try bus.subscribe("app://a") { _ in
            await Task.yield()
            throw CancellationError()
        }
        #expect(try await bus.publish("app://a") == 1)
        #expect(log.count == 2 && log.entries.allSatisfy { $0.contains("handlerFailed app://a") })
        #expect(bus.statistics.sent == 3 && bus.statistics.inFlight == 0)
    }

    @Test
    func `publications keep their order, and subscribers get each in the order of subscription`()
        async throws
    {
        let heard = Journal<Int>()
        for number in 0..<10 {
            try self.bus.subscribe("app://a/:n") { heard.add(number + 10 * (try $0.parameters.require("n"))) }
        }
        for number in 0..<10 { try await self.bus.publish("app://a/\(number)") }
        #expect(heard.entries == Array(0..<100))
    }

    @Test func `a cancelled subscription receives no more, and cancelling it again does nothing`()
        async throws
    {
        let first = try self.bus.subscribe("app://a") { _ in }
        try self.bus.subscribe("app://a") { _ in }
        #expect(try await self.bus.publish("app://a") == 2)
        first.cancel()
        first.cancel()
        #expect(first.pattern == "app://a")
        #expect(try await self.bus.publish("app://a") == 1)
    }

    @Test func `a publisher does not wait for a subscriber that is cancelled during its work`() async throws {
        let started = Gate()
        let gate = Gate()
        let subscription = try self.bus.subscribe("app://a") { _ in
            started.open()
            await gate.wait()
        }
        async let count = self.bus.publish("app://a")
        await started.wait()
        subscription.cancel()
        #expect(try await count == 0)
        gate.open()
    }

    @Test func `a deadline or the publisher's cancellation ends the wait for subscribers`() async throws {
        let gate = Gate()
        let started = Gate()
        try self.bus.subscribe("app://a") { _ in
            started.open()
            await gate.wait()
        }
        let far = Probe(eventLoop: EventLoop())
        let heard = Journal<Bool>()
        let begun = Journal<Bool>()
        try self.bus.subscribe("app://a") { message in
            begun.add(true)
            await far.run {}
            heard.add(await message.reply(with: 1))
        }
        #expect(try await self.bus.publish("app://a", deadline: .now + Scale.whileQuick) == 1)
        let task = Task { [bus] in try await bus.publish("app://a") }
        #expect(await eventually { self.bus.statistics.sent == 4 })
        // A message that is cancelled before its handler begins does not reach the handler.
        #expect(await eventually { begun.entries.count == 2 })
        task.cancel()
        _ = try await task.value
        #expect(await eventually { heard.entries == [false, false] })
        #expect(self.bus.statistics.expired == 1)
        gate.open()
        #expect(await self.bus.settles())
    }

    @Test func `a subscription's pattern does not conflict with a route`() async throws {
        try self.bus.subscribe("app://a") { _ in }
        #expect(!self.bus.canRoute("app://a"))
        try self.bus.register("app://a") { _ in 1 }
        #expect(
            #expect(throws: RoutingError.self) { try self.bus.subscribe("app://%ff") { _ in } }?.code
                == .invalidPattern
        )
    }

    @Test func `a subscriber that publishes to itself ends at the hop limit`() async throws {
        let heard = Journal<Int>()
        try self.bus.subscribe("app://a") { [weak bus] _ in
            heard.add(1)
            try await bus?.publish("app://a")
        }
        try await self.bus.publish("app://a")
        #expect(heard.count == MessageBus.Configuration.quiet.hopLimit + 1)
    }

    @Test(arguments: RouteTests.Place.allCases)
    func `a publication has no return leg`(place: RouteTests.Place) async throws {
        let heard = Journal<String>()
        let far = Probe(eventLoop: EventLoop())
        try self.bus.register("app://home/a") { _ in heard.add("return leg") }
        try self.bus.subscribe("app://topic") { heard.add("now \($0.address.fragment ?? "")") }
        try self.bus.subscribe("app://topic") { message in
            await Task.yield()
            heard.add("later \(message.address.fragment ?? "")")
        }
        try self.bus.subscribe("app://topic", on: far) { heard.add("far \($1.address.fragment ?? "")") }
        let bus = self.bus
        let count = try await RouteTests.run(place, bus) { try await bus.publish("app://topic#home/a") }
        #expect(count == 3)
        #expect(await bus.settles())
        #expect(heard.entries.sorted() == ["far home/a", "later home/a", "now home/a"])
        #expect(bus.statistics.sent == 3)
    }

    @Test(arguments: RouteTests.Place.allCases)
    func `subscribers with many patterns are called in the order of subscription`(
        place: RouteTests.Place
    ) async throws {
        let heard = Journal<Int>()
        let patterns = [
            "app://a/b", "app://a/:one", "app://a/:two", "app://**", "/a/*", "app://a/b", "app://:x/b",
        ]
        for number in 0..<70 {
            try self.bus.subscribe(patterns[number % patterns.count]) { message in
                heard.add(number)
                #expect(message.parameters["one"] == (number % 7 == 1 ? "b" : nil))
                #expect(message.parameters["two"] == (number % 7 == 2 ? "b" : nil))
            }
        }
        let bus = self.bus
        #expect(try await RouteTests.run(place, bus) { try await bus.publish("app://a/b") } == 70)
        #expect(heard.entries == Array(0..<70))
        #expect(bus.statistics.sent == 70 && bus.statistics.replied == 70)
    }

    @Test func `each subscriber gets a separate message, later ones with greater IDs`() async throws {
        let heard = Journal<CorrelationID>()
        for _ in 0..<10 { try self.bus.subscribe("app://a") { heard.add($0.id) } }
        let bus = self.bus
        let count = try await RouteTests.run(.home, bus) { try await bus.publish("app://a") }
        #expect(count == 10)
        #expect(Set(heard.entries).count == 10 && heard.entries == heard.entries.sorted())
    }

    @Test func `publish counts only the subscribers that do not throw`() async throws {
        for number in 0..<100 {
            try self.bus.subscribe("app://a") { _ in if number % 10 == 0 { throw CancellationError() } }
        }
        let bus = self.bus
        let count = try await RouteTests.run(.home, bus) { try await bus.publish("app://a") }
        #expect(count == 90)
        #expect(bus.statistics.replied == 90 && bus.statistics.failed == 10 && bus.statistics.sent == 100)
    }

    @Test(arguments: RouteTests.Place.allCases)
    func `a subscriber that is cancelled by another during a publication does not receive it`(
        place: RouteTests.Place
    ) async throws {
        let heard = Journal<String>()
        let later = Journal<Registration>()
        try self.bus.subscribe("app://a") { _ in
            heard.add("first")
            for subscription in later.entries { subscription.cancel() }
        }
        later.add(try self.bus.subscribe("app://a") { _ in heard.add("cancelled") })
        later.add(try self.bus.subscribe("app://:b") { _ in heard.add("cancelled too") })
        try self.bus.subscribe("app://a") { _ in heard.add("last") }
        let bus = self.bus
        _ = try await RouteTests.run(.home, bus) { try await bus.publish("app://a") }
        #expect(heard.entries == ["first", "last"])
        #expect(bus.statistics.sent == 2)
        #expect(try await RouteTests.run(place, bus) { try await bus.publish("app://a") } == 2)
    }

    @Test func `a subscription made during a publication receives only the next message`() async throws {
        let heard = Journal<String>()
        try self.bus.subscribe("app://a") { [weak bus] _ in
            heard.add("old")
            try bus?.subscribe("app://a") { _ in heard.add("new") }
        }
        let bus = self.bus
        let counts = try await RouteTests.run(.home, bus) {
            [try await bus.publish("app://a"), try await bus.publish("app://a")]
        }
        #expect(counts == [1, 2])
        #expect(heard.entries == ["old", "old", "new"])
    }

    @Test(arguments: RouteTests.Place.allCases)
    func `a subscriber of an actor that does not suspend is called on the actor's loop`(
        place: RouteTests.Place
    ) async throws {
        let near = Probe(eventLoop: self.bus.eventLoop)
        let far = Probe(eventLoop: EventLoop())
        for probe in [near, far] {
            try self.bus.subscribe("app://a/:n", on: probe) { probe, message in
                probe.hear(try message.parameters.require("n"))
            }
        }
        let bus = self.bus
        let count = try await RouteTests.run(place, bus) {
            try await bus.publish("app://a/1") + bus.publish("app://a/2")
        }
        #expect(count == 4)
        #expect(await near.heard == [1, 2])
        #expect(await far.heard == [1, 2])
    }

    @Test func `a sent message is handled before a later publication`() async throws {
        let probe = Probe(eventLoop: self.bus.eventLoop)
        try self.bus.register("app://send/:n", on: probe) { $0.hear(try $1.parameters.require("n")) }
        try self.bus.subscribe("app://publish/:n", on: probe) { probe, message in
            probe.hear(try message.parameters.require("n"))
        }
        let bus = self.bus
        try await RouteTests.run(.home, bus) {
            for number in 0..<10 {
                bus.send("app://send/\(number * 2)")
                try await bus.publish("app://publish/\(number * 2 + 1)")
            }
        }
        #expect(await probe.heard == Array(0..<20))
    }

    @Test func `a subscriber of a serial module waits until the module is free`() async throws {
        let probe = Probe(eventLoop: self.bus.eventLoop)
        try self.bus.configureMailbox(of: probe, .init(isSerial: true))
        let (started, gate) = (Gate(), Gate())
        let heard = Journal<String>()
        try self.bus.subscribe("app://slow", on: probe) { _, _ in
            started.open()
            await gate.wait()
            heard.add("slow")
        }
        try self.bus.subscribe("app://quick", on: probe) { _, _ in heard.add("quick") }
        async let slow = self.bus.publish("app://slow")
        await started.wait()
        async let quick = self.bus.publish("app://quick")
        #expect(await eventually { self.bus.statistics.sent == 2 })
        #expect(heard.count == 0)
        gate.open()
        #expect(try await slow + quick == 2)
        #expect(heard.entries == ["slow", "quick"])
    }

    @Test func `subscriptions of each kind of pattern leave nothing behind when they are cancelled`()
        async throws
    {
        let patterns = ["app://a", "app://:a", "app://:b", "app://**", "web://a", "app://a(/:b)", "/a"]
        for _ in 0..<3 {
            var subscriptions: [Registration] = []
            for pattern in patterns + patterns {
                subscriptions.append(try self.bus.subscribe(pattern) { _ in })
            }
            #expect(try await self.bus.publish("app://a") == 12)
            #expect(try await self.bus.publish("web://a") == 2)
            #expect(try await self.bus.publish("app://a/b") == 4)
            for subscription in subscriptions { subscription.cancel() }
            #expect(try await self.bus.publish("app://a") == 0)
        }
    }

    @Test func `each matching subscription is found under conventions with only one match`()
        async throws
    {
        var configuration = MessageBus.Configuration.quiet
        configuration.conventions.bestMatch = .literalWithoutBacktracking
        configuration.conventions.schemeMustBeRegistered = true
        let bus = MessageBus(configuration: configuration)
        for pattern in ["app://a/b", "app://a/:c", "app://:d/b", "web://a"] {
            try bus.subscribe(pattern) { _ in }
        }
        #expect(try await bus.publish("app://a/b") == 3)
        #expect(try await bus.publish("web://a") == 1)
    }
}
