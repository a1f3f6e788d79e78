import Synchronization
import Testing
import Waybill
import WaybillEventLoop

/// A handler may go away while it is called: its code, and what that holds, stays until it has returned.
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

    /// What a handler does to itself.
    enum End: CaseIterable, Sendable {
        case unregister, replace, unregisterAndPublish
    }

    /// Registers a handler that ends itself and then says whether what it holds is there, and how often.
    private func register(_ end: End) throws -> Watch {
        let token = Token()
        let watch = Watch(token)
        let bus = self.bus
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
                // In place, as far as it gets: it looks at the routes as they are now.
                Task.immediate { try await bus?.publish("app://news") }
            }
            return watch.isTokenAlive ? number : 0
        }
        return watch
    }

    /// Calls the handler until the loop knows its way, and then for the last time.
    private static nonisolated(nonsending) func callAndEnd(_ bus: MessageBus) async throws -> Int {
        for _ in 0..<3 { #expect(try await bus.route("app://once", as: Int.self) == 1) }
        return try await bus.route("app://once?end=now", as: Int.self)
    }

    @Test(arguments: End.allCases, RouteTests.Place.allCases)
    func `a handler that takes itself out lives until it has returned`(
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
    func `so does one with a middleware around it`(end: End, place: RouteTests.Place) async throws {
        let watch = try self.register(end)
        let bus = self.bus
        bus.use(Doing { .pass($0) })
        let number = try await RouteTests.run(place, bus) { try await Self.callAndEnd(bus) }
        #expect(number == 1)
        #expect(await eventually { !watch.isTokenAlive })
    }
}
