import Testing
import Waybill
import WaybillEventLoop
import WaybillTestSupport
import WaybillTesting

@Suite(.timeLimit(.minutes(1)))
struct MiddlewareTests {
    let bus = MessageBus(configuration: .quiet)
    let journal = Journal<String>()

    @Test(arguments: AddingHandler.allCases, RouteTests.Place.allCases)
    func `middlewares surround the handler in declared order, where their patterns match`(
        kind: AddingHandler,
        place: RouteTests.Place
    ) async throws {
        try kind.register(on: self.bus, self.journal)
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

    @Test
    func `a middleware that keeps messages does not retain itself`() async throws {
        struct Kept: Sendable { weak let journal: Journal<Message>? }
        let kept: Kept
        do {
            let journal = Journal<Message>()
            kept = Kept(journal: journal)
            let registration = self.bus.use(
                Doing { message in
                    journal.add(message)
                    return .pass(message)
                }
            )
            try self.bus.register("app://leaf/:kind") { _ in await Task.yield() }
            try self.bus.subscribe("app://topic/:kind") { _ in }
            let unread = try self.bus.subscription(to: "app://topic/*")
            self.bus.send("app://leaf/send")
            try await self.bus.enqueue("app://leaf/enqueue")
            try await self.bus.route("app://leaf/route", timeout: .seconds(60))
            try await self.bus.publish("app://topic/read")
            var iterator = unread.makeAsyncIterator()
            #expect(await iterator.next() != nil)
            #expect(await eventually { journal.count == 5 })
            registration.cancel()
            unread.cancel()
        }
        #expect(await eventually { kept.journal == nil })
    }

    @Test func `a middleware runs on the caller's loop, and so do the functions that it calls`() async throws
    {
        let loop = self.bus.eventLoop
        struct Insisting: Middleware {
            let loop: EventLoop
            nonisolated(nonsending) func handle(
                _ message: Message,
                context: borrowing MiddlewareContext,
                next: borrowing Next
            ) async throws -> any Sendable {
                self.loop.preconditionInEventLoop()
                let value = try await next(message)
                self.loop.preconditionInEventLoop()
                return value
            }
        }
        for kind in AddingHandler.allCases {
            try kind.register(on: self.bus, self.journal, at: "app://\(kind)/add")
        }
        self.bus.use(Insisting(loop: loop))
        let bus = self.bus
        try await Probe(eventLoop: loop).run {
            for kind in AddingHandler.allCases {
                let url = "app://\(kind)/add?n=1"
                let value: Int = try await bus.route(url)
                let bounded: Int = try await bus.route(url, deadline: .now + .seconds(60))
                #expect(value == 2 && bounded == 2)
            }
        }
    }

    @Test(arguments: AddingHandler.allCases, RouteTests.Place.allCases)
    func `a middleware can answer instead of the handler`(
        kind: AddingHandler,
        place: RouteTests.Place
    ) async throws {
        try kind.register(on: self.bus, self.journal)
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

    @Test(arguments: AddingHandler.allCases, RouteTests.Place.allCases)
    func `a middleware can refuse a message, and the error has the URL`(
        kind: AddingHandler,
        place: RouteTests.Place
    ) async throws {
        try kind.register(on: self.bus, self.journal)
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

    @Test func `an error that a middleware throws is the cause of the failure`() async throws {
        struct Oops: Error {}
        try AddingHandler.now.register(on: self.bus, self.journal)
        self.bus.use(Doing { _ in throw Oops() })
        let error = await failure { try await self.bus.route("app://user/add?n=1") }
        #expect(error?.code == .handlerFailed && error?.cause is Oops)
        #expect(self.bus.statistics.failed == 1)
    }

    @Test(arguments: AddingHandler.allCases, RouteTests.Place.allCases)
    func `a middleware can change parameters and headers`(
        kind: AddingHandler,
        place: RouteTests.Place
    ) async throws {
        try kind.register(on: self.bus, self.journal)
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

    @Test(arguments: AddingHandler.allCases, RouteTests.Place.allCases)
    func `a middleware that hangs is cancelled at the deadline`(
        kind: AddingHandler,
        place: RouteTests.Place
    ) async throws {
        let clock = ManualClock()
        let bus = MessageBus(clock: clock, configuration: .quiet)
        try kind.register(on: bus, self.journal)
        let (started, end, cancelled) = (Gate(), Gate(), Gate())
        bus.use(Hanging(started: started, end: end, cancelled: cancelled))
        async let error = RouteTests.run(place, bus) {
            await failure {
                try await bus.route("app://user/add?n=1", deadline: clock.now + .milliseconds(20))
            }
        }
        await started.wait()
        await clock.advance(by: .milliseconds(20))
        #expect(await error?.code == .deadlineExceeded)
        await cancelled.wait()
        #expect(bus.statistics.expired == 1 && bus.statistics.inFlight == 0)
        end.open()
        #expect(self.journal.count == 0)
    }

    @Test(arguments: AddingHandler.allCases, RouteTests.Place.allCases)
    func `the caller's cancellation reaches a middleware`(
        kind: AddingHandler,
        place: RouteTests.Place
    ) async throws {
        try kind.register(on: self.bus, self.journal)
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

    @Test(arguments: AddingHandler.allCases, RouteTests.Place.allCases)
    func `a middleware that calls next repeatedly still handles one message`(
        kind: AddingHandler,
        place: RouteTests.Place
    ) async throws {
        try kind.register(on: self.bus, self.journal)
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

    @Test func `a removed middleware intercepts no more messages`() async throws {
        try AddingHandler.now.register(on: self.bus, self.journal)
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

    @Test func `a middleware for an invalid pattern is an error`() {
        #expect(throws: RoutingError.self) { try self.bus.use(Repeating(times: 1), for: "app://%ff") }
    }

    @Test func `a handler behind a middleware has the hops of its message`() async throws {
        let bus = self.bus
        self.bus.use(Doing { .pass($0) })
        try bus.register("app://again") { [weak bus] _ in try await bus?.route("app://again", as: Void.self) }
        let error = await failure { try await bus.route("app://again") }
        var cause: (any Error)? = error
        while let inner = (cause as? RoutingError)?.cause { cause = inner }
        #expect((cause as? RoutingError)?.code == .hopLimitExceeded)
        #expect(bus.statistics.inFlight == 0)
    }

    @Test func `unregistering a handler fails callers that wait in a middleware`() async throws {
        let (started, end, cancelled) = (Gate(), Gate(), Gate())
        try AddingHandler.later.register(on: self.bus, self.journal)
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

    @Test func `middlewares of a type that is erased work like others`() async throws {
        try AddingHandler.now.register(on: self.bus, self.journal)
        let middlewares: [any Middleware] = [
            Noting(name: "a", journal: self.journal), Doing { _ in .answer(7) },
        ]
        for middleware in middlewares { self.bus.use(middleware) }
        #expect(try await self.bus.route("app://user/add?n=1", as: Int.self) == 7)
        #expect(self.journal.entries == ["a user/add", "a done"])
    }

    @Test func `dropping a bus releases its middlewares`() async throws {
        final class Held: Middleware {
            nonisolated(nonsending) func handle(
                _ message: Message,
                context: borrowing MiddlewareContext,
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

    /// A middleware that passes a message on although its caller was cancelled.
    private struct Stubborn: Middleware {
        let started = Gate()
        let mayContinue = Gate()
        let errors = Journal<RoutingError.Code?>()

        nonisolated(nonsending) func handle(
            _ message: Message,
            context: borrowing MiddlewareContext,
            next: borrowing Next
        ) async throws -> any Sendable {
            self.started.open()
            await self.mayContinue.wait()
            do {
                return try await next(message)
            } catch {
                self.errors.add((error as? RoutingError)?.code)
                throw error
            }
        }
    }

    @Test func `a handler is not called for a message whose caller was cancelled in a middleware`()
        async throws
    {
        let bus = self.bus
        let handled = Journal<Int>()
        let middleware = Stubborn()
        bus.use(middleware)
        try bus.register("app://a") { _ in handled.add(1) }
        let caller = Task { await failure { try await bus.route("app://a", timeout: .seconds(60)) } }
        await middleware.started.wait()
        caller.cancel()
        #expect(await caller.value?.code == .cancelled)
        middleware.mayContinue.open()
        #expect(await eventually { middleware.errors.count == 1 })
        #expect(middleware.errors.entries == [.cancelled] && handled.count == 0)
    }
}
