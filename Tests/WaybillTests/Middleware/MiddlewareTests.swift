import Testing
import Waybill
import WaybillEventLoop

@Suite(.timeLimit(.minutes(1)))
struct MiddlewareTests {
    let bus = MessageBus(configuration: .quiet)
    let journal = Journal<String>()

    enum Kind: CaseIterable, Sendable { case now, later, far, farLater }

    /// Registers a handler that adds one to a parameter.
    private func register(_ kind: Kind, _ url: String = "app://user/add") throws {
        let far = Probe(eventLoop: EventLoop())
        let journal = self.journal
        switch kind {
        case .now:
            try self.bus.register(url) { message -> Int in
                journal.add("handler")
                return try message.parameters.require("n") + 1
            }
        case .later:
            try self.bus.register(url) { message -> Int in
                await Task.yield()
                journal.add("handler")
                return try message.parameters.require("n") + 1
            }
        case .far:
            try self.bus.register(url, on: far) { _, message -> Int in
                journal.add("handler")
                return try message.parameters.require("n") + 1
            }
        case .farLater:
            try self.bus.register(url, on: far) { _, message -> Int in
                await Task.yield()
                journal.add("handler")
                return try message.parameters.require("n") + 1
            }
        }
    }

    @Test(arguments: Kind.allCases, RouteTests.Place.allCases)
    func `they are around the handler in declared order, where they apply`(
        kind: Kind,
        place: RouteTests.Place
    ) async throws {
        try self.register(kind)
        self.bus.use(Noting(name: "a", journal: self.journal))
        try self.bus.use(Noting(name: "user", journal: self.journal), for: "app://user/**")
        try self.bus.use(Noting(name: "order", journal: self.journal), for: "app://order/**")
        self.bus.use(Noting(name: "b", journal: self.journal))
        let bus = self.bus
        let value = try await RouteTests.run(place, bus) {
            try await bus.route("app://user/add?n=1", as: Int.self)
        }
        let bounded = try await RouteTests.run(place, bus) {
            try await bus.route("app://user/add?n=2", deadline: .now + .seconds(60), as: Int.self)
        }
        let reply = try await RouteTests.run(place, bus) { try await bus.route("app://user/add?n=3") }
        #expect(value == 2 && bounded == 3 && reply.value as? Int == 4)
        let once = [
            "a user/add", "user user/add", "b user/add", "handler", "b done", "user done", "a done",
        ]
        #expect(self.journal.entries == once + once + once)
        #expect(bus.statistics.sent == 3 && bus.statistics.replied == 3)
    }

    @Test func `it stays on the caller's loop, and so does what it calls`() async throws {
        let loop = self.bus.eventLoop
        struct Insisting: Middleware {
            let loop: EventLoop
            nonisolated(nonsending) func handle(
                _ message: Message,
                next: borrowing Next
            ) async throws -> any Sendable {
                self.loop.preconditionInEventLoop()
                let value = try await next(message)
                self.loop.preconditionInEventLoop()
                return value
            }
        }
        for kind in Kind.allCases { try self.register(kind, "app://\(kind)/add") }
        self.bus.use(Insisting(loop: loop))
        let bus = self.bus
        try await Probe(eventLoop: loop).run {
            for kind in Kind.allCases {
                let url = "app://\(kind)/add?n=1"
                let value: Int = try await bus.route(url)
                let bounded: Int = try await bus.route(url, deadline: .now + .seconds(60))
                #expect(value == 2 && bounded == 2)
            }
        }
    }

    @Test(arguments: Kind.allCases, RouteTests.Place.allCases)
    func `it may answer instead of the handler`(kind: Kind, place: RouteTests.Place) async throws {
        try self.register(kind)
        self.bus.use(Doing { _ in .answer(42) })
        let bus = self.bus
        let value = try await RouteTests.run(place, bus) {
            try await bus.route("app://user/add?n=1", as: Int.self)
        }
        #expect(value == 42 && self.journal.count == 0)
        #expect(
            await failure { try await bus.route("app://user/add?n=1", as: String.self) }?.code
                == .typeMismatch
        )
        try await bus.route("app://user/add?n=1", as: Void.self)
        #expect(bus.statistics.sent == 3 && bus.statistics.replied == 3)
    }

    @Test(arguments: Kind.allCases, RouteTests.Place.allCases)
    func `it may refuse, and the URL is named`(kind: Kind, place: RouteTests.Place) async throws {
        try self.register(kind)
        self.bus.use(Doing { _ in throw RoutingError.refused("not today") })
        let bus = self.bus
        for deadline in [nil, ContinuousClock.now + .seconds(60)] {
            let error = await RouteTests.run(place, bus) {
                await failure { try await bus.route("app://user/add?n=1", deadline: deadline) }
            }
            #expect(error?.code == .refused && error?.url == "app://user/add?n=1")
            #expect(error?.message == "not today")
        }
        #expect(self.journal.count == 0 && bus.statistics.failed == 2 && bus.statistics.inFlight == 0)
    }

    @Test func `an error of its own is a failure with a cause`() async throws {
        struct Oops: Error {}
        try self.register(.now)
        self.bus.use(Doing { _ in throw Oops() })
        let error = await failure { try await self.bus.route("app://user/add?n=1") }
        #expect(error?.code == .handlerFailed && error?.cause is Oops)
        self.bus.use(Doing { _ in throw RoutingError(.noRoute, url: "app://other", message: "elsewhere") })
        #expect(self.bus.statistics.failed == 1)
    }

    @Test(arguments: Kind.allCases, RouteTests.Place.allCases)
    func `it may change parameters and headers`(kind: Kind, place: RouteTests.Place) async throws {
        try self.register(kind)
        try self.bus.register("app://headers") { $0.headers }
        self.bus.use(Doing { .pass($0.with(parameters: ["n": 10]).with(headers: ["tenant": "a"])) })
        let journal = self.journal
        self.bus.use(
            Doing {
                journal.add($0.headers["tenant"] ?? "none")
                return .pass($0.with(headers: ["user": "b"]))
            }
        )
        let bus = self.bus
        let value = try await RouteTests.run(place, bus) {
            try await bus.route("app://user/add?n=1", as: Int.self)
        }
        #expect(value == 11 && journal.entries == ["a", "handler"])
        let headers = try await RouteTests.run(place, bus) {
            try await bus.route("app://headers", headers: ["x": "y"], as: [String: String].self)
        }
        #expect(headers == ["x": "y", "tenant": "a", "user": "b"])
    }

    @Test(arguments: Kind.allCases, RouteTests.Place.allCases)
    func `the deadline cuts one off that hangs`(kind: Kind, place: RouteTests.Place) async throws {
        try self.register(kind)
        let (started, end, cancelled) = (Gate(), Gate(), Gate())
        self.bus.use(Hanging(started: started, end: end, cancelled: cancelled))
        let bus = self.bus
        let error = await RouteTests.run(place, bus) {
            await failure { try await bus.route("app://user/add?n=1", deadline: .now + .milliseconds(20)) }
        }
        #expect(error?.code == .deadlineExceeded)
        await cancelled.wait()
        #expect(bus.statistics.expired == 1 && bus.statistics.inFlight == 0)
        end.open()
        #expect(self.journal.count == 0)
    }

    @Test(arguments: Kind.allCases, RouteTests.Place.allCases)
    func `the caller's cancellation reaches it`(kind: Kind, place: RouteTests.Place) async throws {
        try self.register(kind)
        let (started, cancelled) = (Gate(), Gate())
        self.bus.use(Hanging(started: started, end: cancelled, cancelled: cancelled))
        let bus = self.bus
        let caller = Task {
            await RouteTests.run(place, bus) { await failure { try await bus.route("app://user/add?n=1") } }
        }
        await started.wait()
        caller.cancel()
        #expect(await caller.value?.code == .cancelled)
        #expect(bus.statistics.cancelled == 1 && bus.statistics.inFlight == 0 && self.journal.count == 0)
    }

    @Test(arguments: Kind.allCases, RouteTests.Place.allCases)
    func `however often it calls the rest, the message is one`(
        kind: Kind,
        place: RouteTests.Place
    ) async throws {
        try self.register(kind)
        self.bus.use(Repeating(times: 3))
        self.bus.use(Repeating(times: 2))
        let bus = self.bus
        let value = try await RouteTests.run(place, bus) {
            try await bus.route("app://user/add?n=1", as: Int.self)
        }
        #expect(value == 2 && self.journal.count == 6)
        #expect(bus.statistics.sent == 1 && bus.statistics.replied == 1)
        bus.send("app://user/add?n=1")
        #expect(await eventually { self.journal.count == 12 })
        #expect(await bus.settles())
        #expect(bus.statistics.sent == 2 && bus.statistics.replied == 2)
        try bus.subscribe("app://topic") { [journal] _ in journal.add("subscriber") }
        let taken = try await RouteTests.run(place, bus) { try await bus.publish("app://topic") }
        #expect(taken == 1 && self.journal.count == 18)
        #expect(bus.statistics.sent == 3 && bus.statistics.replied == 3)
    }

    @Test(arguments: Kind.allCases)
    func `messages that are sent pass through, in order`(kind: Kind) async throws {
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

    @Test func `a message that is sent and refused is a dead letter`() async throws {
        let letters = Journal<String>()
        let bus = MessageBus(configuration: .logging(to: letters))
        try bus.register("app://log") { _ in }
        bus.use(Doing { _ in throw RoutingError.refused("no") })
        bus.send("app://log")
        #expect(await eventually { letters.count == 1 })
        #expect(letters.entries.first?.contains("refused") == true)
        #expect(bus.statistics.deadLettered == 1 && bus.statistics.inFlight == 0)
    }

    @Test func `each subscriber's delivery passes through`() async throws {
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

    @Test(arguments: Kind.allCases, RouteTests.Place.allCases)
    func `return legs pass through, with the headers that the handler saw`(
        kind: Kind,
        place: RouteTests.Place
    ) async throws {
        try self.register(kind)
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
    func `replies before the last one reach the caller`(place: RouteTests.Place) async throws {
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
    func `a URL without a handler is seen, and may be answered`(place: RouteTests.Place) async throws {
        let uncaught = self.journal
        self.bus.registerUncaught { uncaught.add("\($0.address)") }
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

    @Test func `one that is taken out is met no more`() async throws {
        try self.register(.now)
        let registration = self.bus.use(Noting(name: "a", journal: self.journal))
        let other = try self.bus.use(Noting(name: "b", journal: self.journal), for: "app://user/add")
        try await self.bus.route("app://user/add?n=1", as: Void.self)
        #expect(self.journal.count == 5)
        registration.cancel()
        registration.cancel()
        try await self.bus.route("app://user/add?n=1", as: Void.self)
        #expect(self.journal.count == 8)
        other.cancel()
        try await self.bus.route("app://user/add?n=1", as: Void.self)
        #expect(self.journal.count == 9)
    }

    @Test func `a pattern that is none is an error`() {
        #expect(throws: RoutingError.self) { try self.bus.use(Repeating(times: 1), for: "app://%ff") }
    }

    @Test func `the handler's hops and deadline are its message's`() async throws {
        let bus = self.bus
        self.bus.use(Doing { .pass($0) })
        try bus.register("app://again") { [weak bus] _ in try await bus?.route("app://again", as: Void.self) }
        let error = await failure { try await bus.route("app://again") }
        var cause: (any Error)? = error
        while let inner = (cause as? RoutingError)?.cause { cause = inner }
        #expect((cause as? RoutingError)?.code == .hopLimitExceeded)
        #expect(bus.statistics.inFlight == 0)
    }

    @Test func `an unregistered handler fails who waits in the chain`() async throws {
        let (started, end, cancelled) = (Gate(), Gate(), Gate())
        try self.register(.later)
        self.bus.use(Hanging(started: started, end: end, cancelled: cancelled))
        let caller = Task { [bus] in await failure { try await bus.route("app://user/add?n=1") } }
        await started.wait()
        self.bus.unregister("app://user/add")
        #expect(await caller.value?.code == .noHandler)
        await cancelled.wait()
        end.open()
        #expect(self.bus.statistics.inFlight == 0)
    }

    @Test func `task-local values reach the middleware and the handler`() async throws {
        try self.bus.register("app://name") { _ in Context.name }
        try self.bus.register("app://later") { _ in
            await Task.yield()
            return Context.name
        }
        let seen = self.journal
        self.bus.use(
            Doing {
                seen.add(Context.name)
                return .pass($0)
            }
        )
        for url in ["app://name", "app://later"] {
            let name = try await Context.$name.withValue("here") {
                try await self.bus.route(url, as: String.self)
            }
            #expect(name == "here")
        }
        #expect(seen.entries == ["here", "here"])
    }

    @Test func `a bus that goes away lets its middlewares go`() async throws {
        final class Held: Middleware {
            nonisolated(nonsending) func handle(
                _ message: Message,
                next: borrowing Next
            ) async throws -> any Sendable { try await next(message) }
        }
        weak var held: Held?
        do {
            let bus = MessageBus(configuration: .quiet)
            let middleware = Held()
            held = middleware
            bus.use(middleware)
            try bus.register("app://a") { _ in 1 }
            #expect(try await bus.route("app://a", as: Int.self) == 1)
        }
        #expect(await eventually { held == nil })
    }
}
