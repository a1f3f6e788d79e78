import Testing
import Waybill
import WaybillEventLoop
import WaybillTestSupport
import WaybillTesting

/// Messages that middlewares intercept other than routed ones.
@Suite(.timeLimit(.minutes(1)))
struct MiddlewareReachTests {
    let bus = MessageBus(configuration: .quiet)
    let journal = Journal<String>()

    @Test(arguments: AddingHandler.allCases)
    func `sent messages pass the middlewares in order`(kind: AddingHandler) async throws {
        let far = Probe(eventLoop: EventLoop())
        let heard = self.journal
        switch kind {
        case .now, .later: try self.bus.register("app://log") { heard.add($0.parameters["n"] ?? "") }
        case .far, .farLater:
            try self.bus.register("app://log", on: far) { _, message in
                heard.add(message.parameters["n"] ?? "")
            }
        }
        self.bus.use(Doing { .pass($0.with(headers: ["a": "b"])) })
        self.bus.use(Doing { .pass($0) })
        let bus = self.bus
        let numbers = (0..<50).map { "\($0)" }
        await Probe(eventLoop: self.bus.eventLoop).run {
            for number in numbers { bus.send("app://log?n=\(number)") }
        }
        #expect(await eventually { heard.count == 50 })
        #expect(heard.entries == numbers)
        #expect(await bus.settles())
        #expect(bus.statistics.sent == 50 && bus.statistics.replied == 50)
    }

    @Test(arguments: [false, true])
    func `a caller on the bus's second loop runs the middlewares there`(fails: Bool) async throws {
        let second = EventLoop()
        let bus = MessageBus(eventLoops: [EventLoop(), second], configuration: .quiet)
        let module = Probe(eventLoop: second)
        try bus.register("app://count", on: module) { module, message -> Int in
            if fails { throw RoutingError.refused("no") }
            return module.hear(try message.parameters.require("n"))
        }
        bus.use(Noting(name: "m", journal: self.journal))
        let codes = await Probe(eventLoop: second).run {
            var codes: [RoutingError.Code?] = []
            for number in 0..<100 {
                let url = "app://count?n=\(number)"
                codes.append(await failure { let _: Int = try await bus.route(url) }?.code)
            }
            return codes
        }
        #expect(codes == Array(repeating: fails ? .refused : nil, count: 100))
        #expect(await module.heard == (fails ? [] : Array(0..<100)))
        #expect(self.journal.count == 200)
        let books = bus.statistics
        #expect(books.sent == 100 && books.inFlight == 0 && books.replied == (fails ? 0 : 100))
        // If a message still held a snapshot of the routes, the handler would be found.
        bus.unregister("app://count")
        #expect(await failure { try await bus.route("app://count?n=1") }?.code == .noRoute)
    }

    @Test func `enqueued messages pass the middlewares in order`() async throws {
        let module = Probe(eventLoop: self.bus.eventLoop)
        try self.bus.configureMailbox(of: module, MailboxConfiguration(limit: 2, whenFull: .suspend))
        try self.bus.register("app://count", on: module) { module, message in
            module.hear(try message.parameters.require("n"))
        }
        self.bus.use(Noting(name: "m", journal: self.journal))
        for number in 0..<10 { try await self.bus.enqueue("app://count?n=\(number)") }
        #expect(await self.bus.settles())
        #expect(await module.heard == Array(0..<10))
        #expect(self.journal.count == 20)
        let error = await failure { try await self.bus.enqueue("app://nobody") }
        #expect(error?.code == .noRoute)
    }

    @Test func `a sent message that a middleware refuses is a dead letter`() async throws {
        let letters = Journal<String>()
        let bus = MessageBus(configuration: .logging(to: letters))
        try bus.register("app://log") { _ in }
        bus.use(Doing { _ in throw RoutingError.refused("no") })
        bus.send("app://log")
        #expect(await eventually { letters.count == 1 })
        #expect(letters.entries.first?.contains("refused") == true)
        #expect(await eventually { bus.statistics.deadLettered == 1 && bus.statistics.inFlight == 0 })
    }

    @Test func `the delivery to each subscriber passes the middlewares`() async throws {
        for name in ["a", "b"] {
            try self.bus.subscribe("app://topic/:n") { [journal] _ in journal.add("subscriber \(name)") }
        }
        try self.bus.subscribe("app://topic/*") { [journal] _ in
            await Task.yield()
            journal.add("subscriber c")
        }
        let seen = Journal<String>()
        self.bus.use(Noting(name: "m", journal: seen))
        #expect(try await self.bus.publish("app://topic/1") == 3)
        #expect(Set(self.journal.entries) == ["subscriber a", "subscriber b", "subscriber c"])
        #expect(seen.count == 6)
        #expect(self.bus.statistics.sent == 3 && self.bus.statistics.replied == 3)
    }

    @Test(arguments: RouteTests.Place.allCases)
    func `a message of a sequence passes the middlewares when it is read`(
        place: RouteTests.Place
    ) async throws {
        struct Refusal: Error {}
        let (bus, journal) = (self.bus, self.journal)
        let messages = try bus.subscription(to: "app://topic/:n")
        bus.use(Noting(name: "outer", journal: journal))
        bus.use(
            Doing { message in
                switch message.parameters["n"] {
                case "1": throw Refusal()
                case "3": .answer(3)
                default: .pass(message.with(headers: ["seen": "yes"]))
                }
            }
        )
        for number in 0..<5 { #expect(try await bus.publish("app://topic/\(number)") == 1) }
        #expect(journal.entries.isEmpty && bus.statistics.inFlight == 5)
        let read = await RouteTests.run(place, bus) {
            var read: [String] = []
            for await message in messages {
                read.append("\(message.parameters["n"] ?? "") \(message.headers["seen"] ?? "no")")
                if read.count == 3 { break }
            }
            return read
        }
        #expect(read == ["0 yes", "2 yes", "4 yes"])
        #expect(journal.count == 10)
        #expect(bus.statistics.replied == 4 && bus.statistics.failed == 1)
        #expect(bus.statistics.sent == 5 && bus.statistics.inFlight == 0)
    }

    @Test func `a middleware that hangs before a reader is cancelled at the deadline`() async throws {
        let clock = ManualClock()
        let bus = MessageBus(clock: clock, configuration: .quiet)
        let (started, end, cancelled) = (Gate(), Gate(), Gate())
        let messages = try bus.subscription(to: "app://topic/:n")
        try bus.use(Hanging(started: started, end: end, cancelled: cancelled), for: "app://topic/0")
        #expect(try await bus.publish("app://topic/0", deadline: clock.now + .milliseconds(50)) == 1)
        #expect(try await bus.publish("app://topic/1") == 1)
        async let read = messages.first { _ in true }
        await started.wait()
        await clock.advance(by: .milliseconds(50))
        #expect(await read?.parameters["n"] == "1")
        await cancelled.wait()
        end.open()
        #expect(bus.statistics.expired == 1 && bus.statistics.replied == 1)
    }

    @Test(arguments: AddingHandler.allCases, RouteTests.Place.allCases)
    func `return legs pass the middlewares, with the headers that the handler saw`(
        kind: AddingHandler,
        place: RouteTests.Place
    ) async throws {
        try kind.register(on: self.bus, self.journal)
        let heard = self.journal
        try self.bus.register("app://home") { message in
            heard.add("home \(message.headers["trace"] ?? "none") \(message.payload as? Int ?? 0)")
        }
        self.bus.use(
            Doing { message in
                message.correlationID == nil ? .pass(message.with(headers: ["trace": "1"])) : .pass(message)
            }
        )
        let bus = self.bus
        let value = try await RouteTests.run(place, bus) {
            try await bus.route("app://user/add?n=1#app://home", as: Int.self)
        }
        #expect(value == 2)
        #expect(await eventually { heard.count == 2 })
        #expect(heard.entries == ["handler", "home 1 2"])
        #expect(await bus.settles())
        #expect(bus.statistics.sent == 2 && bus.statistics.replied == 2)
    }

    @Test(arguments: RouteTests.Place.allCases)
    func `progress replies reach the caller through a middleware`(place: RouteTests.Place) async throws {
        try self.bus.register("app://upload") { message -> Int in
            try await message.reply(with: 1, expecting: Int.self)
                + message.reply(with: 2, expecting: Int.self)
        }
        self.bus.use(Doing { .pass($0.with(headers: ["a": "b"])) })
        let bus = self.bus
        let sum = try await RouteTests.run(place, bus) {
            try await bus.route("app://upload", as: Int.self) { (update: Int) in update * 10 }
        }
        #expect(sum == 30)
        var values: [Int] = []
        try bus.register("app://count") { message -> Int in
            await message.reply(with: 1)
            await message.reply(with: 2)
            return 3
        }
        for try await reply in bus.replies(to: "app://count") { values.append(try reply.value(as: Int.self)) }
        #expect(values == [1, 2, 3])
    }

    @Test(arguments: RouteTests.Place.allCases)
    func `a middleware sees a URL without a handler, and can answer it`(place: RouteTests.Place) async throws
    {
        let uncaught = self.journal
        self.bus.setUncaughtHandler { uncaught.add("\($0.address)") }
        let seen = Journal<String>()
        self.bus.use(Noting(name: "m", journal: seen))
        let bus = self.bus
        let error = await RouteTests.run(place, bus) { await failure { try await bus.route("app://nobody") } }
        #expect(error?.code == .noRoute && seen.count == 2)
        #expect(await eventually { uncaught.entries == ["app://nobody"] })
        bus.send("app://nobody")
        #expect(await eventually { uncaught.count == 2 })
        #expect(bus.statistics.deadLettered == 2 && bus.statistics.inFlight == 0)
        bus.use(Doing { _ in .answer(1) })
        let value = try await RouteTests.run(place, bus) { try await bus.route("app://nobody", as: Int.self) }
        #expect(value == 1 && uncaught.count == 2 && bus.statistics.replied == 1)
    }
}
