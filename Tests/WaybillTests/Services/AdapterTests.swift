#if Macros

import Testing
import Waybill
import WaybillTestSupport

@Suite
struct AdapterTests {
    private let bus = MessageBus(configuration: .quiet)

    private func adaptAll() throws {
        try self.bus.adapt((any WallClock).self, from: (any RequiredClock).self) {
            WallClockAdapter(clock: $0)
        }
        try self.bus.adapt((any RequiredClock).self, from: (any TimeService).self) { ClockAdapter(time: $0) }
    }

    @Test
    func `an adapter provides a protocol by the provider of another, also through more adapters`()
        async throws
    {
        try self.adaptAll()
        try await self.bus.install { ClockModule() }
        let clock = try self.bus.service((any RequiredClock).self)
        #expect(try await clock.noon(at: "Oslo") == "noon in Oslo, local")
        #expect(try await self.bus.service((any WallClock).self).look() == "noon in the hall, local")
    }

    @Test
    func `the registration of an adapter does not hold the adapter that it has replaced`() throws {
        final class Resource: Sendable {}
        var conventions = RoutingConventions.waybill
        conventions.sameShape = .replaces
        let bus = MessageBus(configuration: .init(conventions: conventions))
        weak var replaced: Resource?
        do {
            let resource = Resource()
            replaced = resource
            try bus.adapt((any WallClock).self, from: (any RequiredClock).self) {
                _ = resource
                return WallClockAdapter(clock: $0)
            }
        }
        #expect(replaced != nil)
        let registration = try bus.adapt((any WallClock).self, from: (any RequiredClock).self) {
            WallClockAdapter(clock: $0)
        }
        #expect(replaced == nil)
        registration.cancel()
    }

    @Test
    func `an adapter serves providers of every name`() async throws {
        try self.adaptAll()
        try await self.bus.install(named: "utc") { ClockModule(zone: "UTC") }
        let clock = try self.bus.service((any WallClock).self, named: "utc")
        #expect(try await clock.look() == "noon in the hall, UTC")
        #expect(await failure { try self.bus.service((any WallClock).self) }?.code == .noHandler)
        #expect(self.bus.validate(services: [(any WallClock).self]).isEmpty)
    }

    @Test
    func `the error of an adapter names its missing provider, at the request and in validate`() async throws {
        try self.adaptAll()
        let error = await failure { try self.bus.service((any WallClock).self) }
        #expect(error?.code == .noHandler)
        #expect(
            error?.message.hasPrefix(
                "no module provides the service `TimeService`, which the adapter of `RequiredClock` needs; install"
            ) == true
        )
        let problems = self.bus.validate(services: [(any WallClock).self, (any Alarms).self])
        #expect(problems.map(\.code) == [.noHandler, .noHandler])
        #expect(problems[0].message.contains("`TimeService`"))
        #expect(problems[1].message.contains("`Alarms`"))
    }

    @Test
    func `the error of adapters in a circle names all of them`() async throws {
        try self.adaptAll()
        try self.bus.adapt((any TimeService).self, from: (any WallClock).self) { _ in Stopped() }
        let error = await failure { try self.bus.service((any RequiredClock).self) }
        #expect(error?.code == .infiniteRecursion)
        let circle = "`RequiredClock` from `TimeService` from `WallClock` from `RequiredClock`"
        #expect(error?.message.hasSuffix(circle) == true)
        let problems = self.bus.validate(services: [(any RequiredClock).self])
        #expect(problems.map(\.code) == [.infiniteRecursion])
    }

    @Test
    func `an adapter of a protocol to itself is a circle`() async throws {
        try self.bus.adapt((any WallClock).self, from: (any WallClock).self) { $0 }
        #expect(await failure { try self.bus.service((any WallClock).self) }?.code == .infiniteRecursion)
        #expect(self.bus.validate().map(\.code) == [.infiniteRecursion])
    }

    @Test
    func `a protocol has one provider, either an adapter or a module`() async throws {
        let adapter = try self.bus.adapt((any TimeService).self, from: (any Alarms).self) { _ in Stopped() }
        let error = await failure { try await self.bus.install { ClockModule() } }
        #expect(error?.code == .conflict)
        #expect(self.bus.routes.isEmpty)
        adapter.cancel()
        try await self.bus.install { ClockModule() }
        #expect(self.bus.validate(services: [(any TimeService).self]).isEmpty)
    }

    @Test
    func `validate finds a service whose routes were unregistered`() async throws {
        try await self.bus.install { ClockModule() }
        self.bus.unregister("app://time/time")
        #expect(self.bus.validate().map(\.code) == [.noRoute])
        #expect(self.bus.validate().first?.url == "app://time/time")
    }
}

private struct Stopped: TimeService {
    func time(in city: String) async throws -> String { "never" }
    func add(_ hours: Int, to times: [Int], unless skipped: Int?) async throws -> [Int] { [] }
    func fail() async throws {}
    func wait() async throws {}
    func remind(_ body: @escaping @Sendable (Int) -> Int) async throws -> Int { 0 }
    func loop() async throws -> String { "" }
}

#endif
