import Testing
import Waybill
import WaybillEventLoop

@Suite(.timeLimit(.minutes(1)))
struct PublishTests {
    let bus = MessageBus(configuration: .quiet)

    @Test(arguments: RouteTests.Place.allCases)
    func `every subscriber of a matching pattern gets it, whatever kind it is`(
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

    @Test func `nobody has to listen`() async throws {
        #expect(try await self.bus.publish("app://nothing") == 0)
        #expect(await failure { try await self.bus.publish("") }?.code == .invalidURL)
    }

    @Test func `a subscriber that fails concerns nobody else`() async throws {
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

    @Test func `subscribers are told in the order of subscription, and publications in theirs`() async throws
    {
        let heard = Journal<Int>()
        for number in 0..<10 {
            try self.bus.subscribe("app://a/:n") { heard.add(number + 10 * (try $0.parameters.require("n"))) }
        }
        for number in 0..<10 { try await self.bus.publish("app://a/\(number)") }
        #expect(heard.entries == Array(0..<100))
    }

    @Test func `a subscription that is cancelled hears no more, and cancelling it again does nothing`()
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

    @Test func `a subscriber that goes while it works is not waited for`() async throws {
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

    @Test func `the deadline and the publisher's cancellation end the wait`() async throws {
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
        // A message that is cancelled before its handler begins is never given to it.
        #expect(await eventually { begun.entries.count == 2 })
        task.cancel()
        _ = try await task.value
        #expect(await eventually { heard.entries == [false, false] })
        #expect(self.bus.statistics.expired == 1)
        gate.open()
        #expect(await self.bus.settles())
    }

    @Test func `a pattern of subscribers does not stand in the way of routes`() async throws {
        try self.bus.subscribe("app://a") { _ in }
        #expect(!self.bus.canRoute("app://a"))
        try self.bus.register("app://a") { _ in 1 }
        #expect(
            #expect(throws: RoutingError.self) { try self.bus.subscribe("app://%ff") { _ in } }?.code
                == .invalidPattern
        )
    }

    @Test func `a subscriber that publishes to itself comes to an end`() async throws {
        let heard = Journal<Int>()
        try self.bus.subscribe("app://a") { [weak bus] _ in
            heard.add(1)
            try await bus?.publish("app://a")
        }
        try await self.bus.publish("app://a")
        #expect(heard.count == MessageBus.Configuration.quiet.hopLimit + 1)
    }

    @Test(arguments: RouteTests.Place.allCases)
    func `there is no return leg, since there is no single reply`(place: RouteTests.Place) async throws {
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
}
