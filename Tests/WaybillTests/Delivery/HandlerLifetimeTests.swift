import Synchronization
import Testing
import Waybill
import WaybillEventLoop
import WaybillTestSupport

/// A handler may be unregistered while it is called.
///
/// The bus keeps the code and the captures of the handler until the handler has returned.
@Suite(.timeLimit(.minutes(1)))
struct HandlerLifetimeTests {
    let bus = MessageBus(configuration: .quiet)

    private final class Token: Sendable {
        let number = 1
    }

    private final class Watch: Sendable {
        private let token: Mutex<@Sendable () -> Token?>

        init(_ token: Token) { self.token = Mutex { [weak token] in token } }

        var isTokenAlive: Bool { self.token.withLock { $0() } != nil }
    }

    /// The ways in which a handler ends its own registration.
    enum End: CaseIterable, Sendable {
        case unregister, replace, unregisterAndPublish, haveItUnregistered
    }

    /// Registers a handler that ends its registration and then checks its captures.
    private func register(_ end: End) throws -> Watch {
        let token = Token()
        let watch = Watch(token)
        let bus = self.bus
        try self.bus.register("app://broom", on: Probe(eventLoop: bus.eventLoop)) { [weak bus] _, _ in
            bus?.unregister("app://once")
            await Task.yield()
        }
        try self.bus.register("app://once") { [weak bus] message -> Int in
            let number = token.number
            if message.parameters["end"] == nil { return number }
            switch end {
            case .unregister: bus?.unregister("app://once")
            case .replace:
                bus?.unregister("app://once")
                try bus?.register("app://once") { _ in 2 }
            case .unregisterAndPublish:
                bus?.unregister("app://once")
                // The task starts in place and uses the current routes.
                Task.immediate { try await bus?.publish("app://news") }
            case .haveItUnregistered:
                // Another handler unregisters this one. Its first part runs here, on this handler's stack.
                Task.immediate { try await bus?.route("app://broom") }
            }
            return watch.isTokenAlive ? number : 0
        }
        return watch
    }

    /// Calls the handler until the loop has cached its route, and then for the last time.
    private static nonisolated(nonsending) func callAndEnd(_ bus: MessageBus) async throws -> Int {
        for _ in 0..<3 { #expect(try await bus.route("app://once", as: Int.self) == 1) }
        return try await bus.route("app://once?end=now", as: Int.self)
    }

    @Test(arguments: End.allCases, RouteTests.Place.allCases)
    func `a handler that unregisters itself lives until it has returned`(
        end: End,
        place: RouteTests.Place
    ) async throws {
        let watch = try self.register(end)
        let bus = self.bus
        let number = try await RouteTests.run(place, bus) { try await Self.callAndEnd(bus) }
        #expect(number == 1)
        #expect(await eventually { !watch.isTokenAlive })
    }

    @Test(arguments: End.allCases, RouteTests.Place.allCases)
    func `a handler that unregisters itself behind a middleware lives until it has returned`(
        end: End,
        place: RouteTests.Place
    ) async throws {
        let watch = try self.register(end)
        let bus = self.bus
        bus.use(Doing { .pass($0) })
        let number = try await RouteTests.run(place, bus) { try await Self.callAndEnd(bus) }
        #expect(number == 1)
        #expect(await eventually { !watch.isTokenAlive })
    }

    /// A middleware that waits with each message, and retains an object.
    private final class Waiting: Middleware {
        let token: Token
        let started: Journal<String>
        let end: Gate

        init(_ token: Token, started: Journal<String>, end: Gate) {
            self.token = token
            self.started = started
            self.end = end
        }

        nonisolated(nonsending) func handle(
            _ message: Message,
            context: borrowing MiddlewareContext,
            next: borrowing Next
        ) async throws -> any Sendable {
            guard message.parameters["wait"] != nil else { return try await next(message) }
            self.started.add(message.address.description)
            await self.end.wait()
            let value = try await next(message)
            return self.token.number == 1 ? value : 0
        }
    }

    @Test(arguments: RouteTests.Place.allCases)
    func `a middleware that is removed lives until its last message has ended`(
        place: RouteTests.Place
    ) async throws {
        let (started, end) = (Journal<String>(), Gate())
        let (bus, watch, registration) = try {
            let token = Token()
            try self.bus.register("app://kept") { _ in 1 }
            try self.bus.register("app://gone") { _ in 2 }
            let registration = self.bus.use(Waiting(token, started: started, end: end))
            return (self.bus, Watch(token), registration)
        }()
        let urls = ["app://kept", "app://gone"]
        let values = try await RouteTests.run(place, bus) {
            var values: [Int] = []
            for url in urls + urls { values.append(try await bus.route(url, as: Int.self)) }
            return values
        }
        #expect(values == [1, 2, 1, 2])
        async let kept = RouteTests.run(place, bus) { try await bus.route("app://kept?wait=1", as: Int.self) }
        async let gone = RouteTests.run(place, bus) {
            await failure { try await bus.route("app://gone?wait=1") }
        }
        #expect(await eventually { started.count == 2 })
        registration.cancel()
        bus.unregister("app://gone")
        for number in 0..<10 {
            try bus.register("app://new/\(number)") { _ in number }
            let value = try await RouteTests.run(place, bus) {
                try await bus.route("app://new/\(number)", as: Int.self)
            }
            #expect(value == number)
        }
        #expect(watch.isTokenAlive)
        end.open()
        #expect(try await kept == 1)
        #expect(await gone?.code == .noHandler)
        #expect(await eventually { !watch.isTokenAlive })
        #expect(bus.statistics.inFlight == 0)
    }
}
