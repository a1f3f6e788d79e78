import Testing
import Waybill
import WaybillRouting
import WaybillTestSupport

/// The bus releases a program's objects outside of its locks, because their deinitializers may use the bus.
///
/// A test that fails here waits for a lock for ever.
@Suite(.timeLimit(.minutes(1)))
struct ReleaseTests {
    private let bus = MessageBus(configuration: .replacing)

    private protocol Greeting: Sendable {}

    private struct Greeter: Greeting {
        let guest: Guest?
    }

    @Test func `a replaced uncaught handler may capture an object whose deinit uses the bus`() async throws {
        let journal = Journal<String>()
        let bus = self.bus
        do {
            let guest = Guest { bus.send("app://nobody") }
            bus.setUncaughtHandler { _ in guest.greet() }
        }
        bus.setUncaughtHandler { journal.add($0.parameters.url) }
        #expect(await eventually { journal.entries == ["app://nobody"] })
    }

    @Test func `a replaced configuration may hold an object whose deinit unregisters a route`() throws {
        let bus = self.bus
        let registration = try bus.register("app://other") { _ in 1 }
        do {
            let guest = Guest { registration.cancel() }
            try bus.load(
                ["app://guest": "G"],
                destinations: ["unused": { _ in guest.greet() }, "G": { _ in 2 }]
            )
        }
        try bus.load(["app://guest": "G"], destinations: ["G": { _ in 3 }])
        #expect(!bus.canRoute("app://other") && bus.canRoute("app://guest"))
    }

    @Test func `a replaced adapter may capture an object whose deinit requests a service`() async throws {
        let bus = self.bus
        let journal = Journal<RoutingError.Code?>()
        do {
            let guest = Guest {
                do {
                    _ = try bus.service((any Greeting).self)
                } catch {
                    journal.add((error as? RoutingError)?.code)
                }
            }
            try bus.adapt((any Greeting).self, from: Int.self) { _ in Greeter(guest: guest) }
        }
        try bus.adapt((any Greeting).self, from: Int.self) { _ in Greeter(guest: nil) }
        #expect(journal.entries == [.noHandler])
    }

    @Test func `a cancelled readiness check may capture an object whose deinit adds a check`() async {
        let bus = self.bus
        let check: ReadinessCheck
        do {
            let guest = Guest { bus.addReadinessCheck("late") { "added by a deinitializer" } }
            check = bus.addReadinessCheck("first") {
                guest.greet()
                return nil
            }
        }
        check.cancel()
        #expect(await bus.readiness(within: .seconds(30)).problems.map(\.name) == ["late"])
    }
}
