import Testing
import Waybill
import WaybillEventLoop
import WaybillTestSupport

@Suite(.timeLimit(.minutes(1)))
struct DeadLetterTests {
    let bus = MessageBus(configuration: .quiet)

    private struct Refusal: Error {}

    /// Returns the dead letters after `count` of them have arrived and no message is in flight.
    private func letters(_ letters: DeadLetters, count: Int) async -> [DeadLetter] {
        var read: [DeadLetter] = []
        for await letter in letters {
            read.append(letter)
            if read.count == count { break }
        }
        return read
    }

    @Test func `a failed sent message is a dead letter with the reason and the route`() async throws {
        let letters = self.bus.deadLetters
        try self.bus.register("app://bad/:id") { _ in throw Refusal() }
        try self.bus.register("app://late/:id") { _ in
            await Task.yield()
            throw Refusal()
        }
        let urls = ["app://nobody/home?a=1", "", "app://bad/7", "app://late/8"]
        for url in urls { self.bus.send(url) }
        let read = await self.letters(letters, count: urls.count)
        let byURL = Dictionary(uniqueKeysWithValues: read.map { ($0.url, $0) })
        #expect(
            urls.map { byURL[$0]?.error.code } == [.noRoute, .invalidURL, .handlerFailed, .handlerFailed]
        )
        #expect(urls.map { byURL[$0]?.pattern } == [nil, nil, "app://bad/:id", "app://late/:id"])
        #expect(urls.map { byURL[$0]?.message == nil } == [false, true, false, false])
        #expect(byURL["app://nobody/home?a=1"]?.message?.parameters["a"] == "1")
        #expect(byURL["app://bad/7"]?.message?.parameters["id"] == "7")
        #expect(byURL["app://bad/7"]?.error.cause is Refusal)
        #expect(read.allSatisfy { !$0.isAwaited && $0.message.map { $0.id } ?? $0.id == $0.id })
        #expect(await self.bus.settles() && self.bus.statistics.deadLettered == urls.count)
    }

    @Test(arguments: RouteTests.Place.allCases)
    func `an awaited message without a handler is a dead letter`(place: RouteTests.Place) async throws {
        let bus = self.bus
        let letters = bus.deadLetters
        try bus.register("app://good") { _ in }
        try bus.register("app://bad") { _ in throw Refusal() }
        try bus.register("app://gone") { message in throw RoutingError(.noHandler, message: "not here") }
        await RouteTests.run(place, bus) {
            for url in ["app://good", "app://bad", "app://nobody", "", "app://gone"] {
                _ = await failure { try await bus.route(url) }
            }
            _ = await failure { try await bus.route("app://nowhere", as: Int.self) }
            _ = await failure { try await bus.enqueue("app://not/there") }
            _ = await failure { for try await _ in bus.replies(to: "app://not/that/either") {} }
        }
        let read = await self.letters(letters, count: 6)
        #expect(
            read.map(\.url)
                == [
                    "app://nobody", "", "app://gone", "app://nowhere", "app://not/there",
                    "app://not/that/either",
                ]
        )
        #expect(read.allSatisfy { $0.isAwaited })
        #expect(bus.statistics.deadLettered == 6)
    }

    @Test func `a message whose handler is unregistered is a dead letter with its route`() async throws {
        let letters = self.bus.deadLetters
        let never = Gate()
        let registration = try self.bus.register("app://slow/:id") { _ in await never.wait() }
        let bus = self.bus
        async let error = failure { try await bus.route("app://slow/1") }
        #expect(await eventually { bus.routeStatistics.first?.counts.inFlight == 1 })
        registration.cancel()
        #expect(await error?.code == .noHandler)
        let read = await self.letters(letters, count: 1)
        #expect(read.first?.pattern == "app://slow/:id" && read.first?.isAwaited == true)
        never.open()
    }

    @Test(arguments: [MailboxConfiguration.Overflow.fail, .dropOldest])
    func `a rejected message is a dead letter`(overflow: MailboxConfiguration.Overflow) async throws {
        let far = Probe(eventLoop: EventLoop())
        try self.bus.configureMailbox(of: far, .init(limit: 2, whenFull: overflow))
        let letters = self.bus.deadLetters
        let held = Gate()
        let begun = Gate()
        try self.bus.register("app://far/:id", on: far) { _, message in
            begun.open()
            held.block()
        }
        self.bus.send("app://far/0")
        await begun.wait()
        for number in 1...4 { self.bus.send("app://far/\(number)") }
        held.open()
        let read = await self.letters(letters, count: 2)
        let expected = overflow == .fail ? ["app://far/3", "app://far/4"] : ["app://far/1", "app://far/2"]
        #expect(read.map(\.url) == expected)
        #expect(read.allSatisfy { $0.error.code == .mailboxFull && $0.pattern == "app://far/:id" })
        #expect(read.allSatisfy { $0.message?.parameters["id"] != nil })
    }

    @Test func `a message for the uncaught handler is a dead letter`() async throws {
        let letters = self.bus.deadLetters
        let told = Journal<String>()
        self.bus.setUncaughtHandler { told.add("\($0.address)") }
        self.bus.send("app://nobody")
        #expect(await self.letters(letters, count: 1).map(\.url) == ["app://nobody"])
        #expect(await eventually { told.entries == ["app://nobody"] })
    }

    @Test func `each reader of dead letters receives all of them`() async throws {
        let watchers = (0..<5).map { _ in self.bus.deadLetters }
        for number in 0..<10 { self.bus.send("app://nobody/\(number)") }
        for watcher in watchers {
            let read = await self.letters(watcher, count: 10)
            #expect(read.map(\.url) == (0..<10).map { "app://nobody/\($0)" })
        }
    }

    @Test func `a slow reader of dead letters loses the oldest, and counts them`() async throws {
        let letters = self.bus.deadLetters(limit: 3)
        for number in 0..<10 { self.bus.send("app://nobody/\(number)") }
        #expect(letters.dropped == 7)
        let read = await self.letters(letters, count: 3)
        #expect(read.map(\.url) == (7..<10).map { "app://nobody/\($0)" })
    }

    @Test func `the dead letters end when the bus has shut down, after the last letter`() async throws {
        let letters = self.bus.deadLetters
        let never = Gate()
        let begun = Gate()
        try self.bus.register("app://slow") { _ in
            begun.open()
            await never.wait()
        }
        self.bus.send("app://slow")
        await begun.wait()
        await self.bus.shutDown()
        var codes: [RoutingError.Code] = []
        for await letter in letters { codes.append(letter.error.code) }
        #expect(codes == [.shutDown])
        for await _ in self.bus.deadLetters { Issue.record("there is no bus any more") }
        never.open()
    }

    @Test func `the dead letters end when the bus is dropped, and do not retain its loop`() async throws {
        var bus: MessageBus? = MessageBus(configuration: .quiet)
        weak let loop = bus?.eventLoop
        let letters = try #require(bus?.deadLetters)
        bus?.send("app://nobody")
        bus = nil
        var count = 0
        for await _ in letters { count += 1 }
        #expect(count == 1)
        #expect(await eventually { loop == nil })
    }

    @Test func `a dead letter with a return URL does not retain the bus's loop`() async throws {
        var bus: MessageBus? = MessageBus(configuration: .quiet)
        weak let loop = bus?.eventLoop
        let letters = try #require(bus?.deadLetters)
        try bus?.register("app://fails") { _ -> Int in throw CancellationError() }
        bus?.send("app://fails#app://home")
        var kept: [DeadLetter] = []
        for await letter in letters {
            kept.append(letter)
            break
        }
        let message = try #require(kept.first?.message)
        #expect(message.returnURL == "app://home")
        bus = nil
        #expect(await eventually { loop == nil })
        #expect(message.sendReturn(7) && !message.sendReturn(7))
    }

    @Test func `a reader of dead letters that has stopped is forgotten`() async throws {
        for _ in 0..<3 {
            var letters: DeadLetters? = self.bus.deadLetters
            self.bus.send("app://nobody")
            letters = nil
            _ = letters
        }
        let reader = Task { [letters = self.bus.deadLetters] in
            for await _ in letters {}
        }
        reader.cancel()
        await reader.value
        self.bus.send("app://nobody")
        #expect(self.bus.statistics.deadLettered == 4)
    }

    @Test func `a reader of dead letters stays on its loop`() async throws {
        let probe = Probe(eventLoop: EventLoop())
        let bus = self.bus
        let letters = bus.deadLetters
        async let read: Int = probe.act { probe in
            var count = 0
            for await _ in letters {
                probe.eventLoop.preconditionInEventLoop()
                count += 1
                if count == 3 { break }
            }
            probe.eventLoop.preconditionInEventLoop()
            return count
        }
        for _ in 0..<3 {
            await Task.yield()
            bus.send("app://nobody")
        }
        #expect(await read == 3)
    }

    @Test func `a dead letter is printed on one line`() async throws {
        let letters = self.bus.deadLetters
        try self.bus.register("app://bad/:id") { _ in throw RoutingError(.refused, message: "not\ntoday") }
        self.bus.send("app://bad/7")
        let letter = try #require(await self.letters(letters, count: 1).first)
        #expect(
            letter.description
                == "dead letter \(letter.id): refused app://bad/7 (app://bad/:id): not\\ntoday"
        )
    }

    @Test func `the dead letter of an unread message names its subscription`() async throws {
        let letters = self.bus.deadLetters
        let sequence = try self.bus.subscription(to: "app://x/:n", limit: 1, whenFull: .dropOldest)
        for number in 0..<2 { try await self.bus.publish("app://x/\(number)") }
        sequence.cancel()
        for letter in await self.letters(letters, count: 2) {
            #expect(letter.pattern == "app://x/:n" && letter.error.route == "app://x/:n")
        }
    }

    @Test func `a dead letter of an awaited message has the values and the origin of its sender`()
        async throws
    {
        let bus = self.bus
        let letters = bus.deadLetters
        let started = Gate()
        let registration = try bus.register("app://slow/:id") { _ in
            started.open()
            try await Task.sleep(for: .seconds(60))
        }
        try bus.expose("app://slow/**")
        let request = ExternalRequest(
            url: "app://slow/7?a=1",
            parameters: ["b": 2],
            headers: ["c": "3"],
            origin: .peer
        )
        async let error = failure { try await bus.route(request) }
        await started.wait()
        registration.cancel()
        #expect(await error?.code == .noHandler)
        let letter = try #require(await self.letters(letters, count: 1).first)
        #expect(letter.isAwaited && letter.pattern == "app://slow/:id")
        #expect(letter.message?.parameters["a"] == "1" && letter.message?.parameters["b"] == "2")
        #expect(letter.message?.headers == ["c": "3"] && letter.message?.origin == .peer)
    }
}
