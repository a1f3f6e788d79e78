#if ServiceLifecycle
import Logging
import ServiceLifecycle
import ServiceLifecycleTestKit
import Testing
import Waybill
import WaybillServiceLifecycle
import WaybillTestSupport

@Suite(.timeLimit(.minutes(1))) struct MessageBusServiceTests {
    @Test func `a bus runs until graceful shutdown`() async throws {
        let bus = MessageBus()
        try bus.register("app://clock/now") { _ in 12 }
        try await testGracefulShutdown { trigger in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await bus.run() }
                let before: Int = try await bus.route("app://clock/now")
                #expect(before == 12)
                trigger.triggerGracefulShutdown()
                try await group.waitForAll()
            }
        }
        let error = await #expect(throws: RoutingError.self) { try await bus.route("app://clock/now") }
        #expect(error?.code == .shutDown)
    }

    private func isDraining(_ bus: MessageBus) async -> Bool {
        let error = await #expect(throws: RoutingError.self) { try await bus.route("app://none") }
        return error?.code == .shutDown
    }

    @Test func `messages in flight end before the bus shuts down`() async throws {
        let bus = MessageBus()
        let gate = Gate()
        try bus.register("app://slow/one") { _ -> Int in
            await gate.wait()
            return 7
        }
        let summary = try await testGracefulShutdown { trigger in
            async let summary = bus.run(drainingFor: .seconds(30))
            async let reply: Int = bus.route("app://slow/one")
            await gate.reached()
            trigger.triggerGracefulShutdown()
            while await !self.isDraining(bus) { try await Task.sleep(for: .milliseconds(1)) }
            gate.open()
            #expect(try await reply == 7)
            return try await summary
        }
        // The probe that asks whether the bus drains may be counted too.
        #expect(summary.finished >= 1)
        #expect(summary.abandoned == 0)
    }

    @Test(arguments: [true, false])
    func `a message that outlasts the drain time fails with shutDown`(isCancelled: Bool) async throws {
        let bus = MessageBus()
        let gate = Gate()
        try bus.register("app://slow/one") { _ -> Int in
            await gate.wait()
            return 7
        }
        let service = MessageBusService(bus, drainingFor: isCancelled ? .seconds(3600) : .milliseconds(20))
        await testGracefulShutdown { trigger in
            let running = Task { try await service.run() }
            let request = Task { () -> Int in try await bus.route("app://slow/one") }
            await gate.reached()
            trigger.triggerGracefulShutdown()
            if isCancelled { running.cancel() }
            let error = await #expect(throws: RoutingError.self) { try await request.value }
            #expect(error?.code == .shutDown)
            _ = await running.result
        }
        gate.open()
    }

    @Test func `cancelling the service's task shuts the bus down at once`() async throws {
        let bus = MessageBus()
        try bus.register("app://clock/now") { _ in 12 }
        let running = Task { try await bus.run() }
        running.cancel()
        await #expect(throws: CancellationError.self) { try await running.value }
        let error = await #expect(throws: RoutingError.self) { try await bus.route("app://clock/now") }
        #expect(error?.code == .shutDown)
    }

    @Test func `a service group ends the bus after the services that route on it`() async throws {
        let bus = MessageBus()
        try bus.register("app://clock/now") { _ in 12 }
        let guest = LateGuest(bus: bus)
        let group = ServiceGroup(services: [bus, guest], logger: Logger(label: "test"))
        let running = Task { try await group.run() }
        await guest.arrival.reached()
        await group.triggerGracefulShutdown()
        try await running.value
        #expect(guest.journal.entries == [12])
        await #expect(throws: RoutingError.self) { try await bus.route("app://clock/now") }
    }
}

/// Routes once more when it is asked to end.
private struct LateGuest: Service {
    let bus: MessageBus
    let arrival = Gate()
    let journal = Journal<Int>()

    func run() async throws {
        self.arrival.reach()
        try await gracefulShutdown()
        let value: Int = try await self.bus.route("app://clock/now")
        self.journal.add(value)
    }
}
#endif
