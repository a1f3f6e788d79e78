import Synchronization
import Testing
import Waybill
import WaybillPerformances
import WaybillTestSupport

@Suite(.timeLimit(.minutes(1)))
struct PerformanceTests {
    private let bus = MessageBus(configuration: .quiet)
    private let journal = Journal<String>()

    private func performance(
        _ change: (inout PlayerRouter) -> Void = { _ in }
    ) throws -> Performance<any Player> {
        var router = PlayerRouter(journal: self.journal)
        change(&router)
        try self.bus.provide((any Player).self, by: router)
        let journal = self.journal
        self.bus.registerPerformFailed { journal.add("global \($0.code)") }
        return try self.bus.performance(of: (any Player).self) { $0.note(in: journal) }
    }

    @Test
    func `a destination is created, prepared by caller and router, checked, and removed`() async throws {
        let performance = try self.performance()
        #expect(performance.state == .unrouted)
        let player = try await performance.perform(onSuccess: { [journal] _ in journal.add("this one") })
        #expect(performance.destination === player)
        #expect(performance.canRemove)
        try await performance.remove()
        #expect(performance.state == .removed)
        #expect(performance.destination == nil)
        #expect(
            self.journal.entries == [
                "configure", "unrouted->routing", "make", "caller prepares", "prepare", "check",
                "routing->routed", "succeeded", "completed true", "this one", "routed->removing", "remove",
                "removing->removed", "completed true",
            ]
        )
        withExtendedLifetime(player) {}
    }

    @Test func `a replaced value may hold an object whose deinit reads the state`() async throws {
        let states = Journal<PerformState>()
        let current = Mutex<Performance<Ticket>?>(nil)
        try self.bus.provide(
            Ticket.self,
            by: TicketRouter { if let state = current.withLock({ $0 })?.state { states.add(state) } }
        )
        let performance = try self.bus.performance(of: Ticket.self)
        current.withLock { $0 = performance }
        for _ in 0..<2 { _ = try await performance.perform() }
        #expect(states.entries == [.routed])
        current.withLock { $0 = nil }
    }

    @Test(arguments: ["make", "prepare", "check"])
    func `a failing step restores the state, and its error is the cause`(step: String) async throws {
        let performance = try self.performance { router in
            let fail: @Sendable () async throws -> Void = { throw Jam() }
            switch step {
            case "make": router.destination = { throw Jam() }
            case "prepare": router.preparing = fail
            default: router.checking = fail
            }
        }
        let error = await failure {
            try await performance.perform(onFailure: { [journal] _ in journal.add("this one") })
        }
        #expect(error?.code == .handlerFailed)
        #expect(error?.cause is Jam)
        #expect(performance.state == .unrouted)
        #expect(
            self.journal.entries.suffix(5) == [
                "routing->unrouted", "failed", "completed false", "this one", "global handlerFailed",
            ]
        )
    }

    @Test
    func `a second performance that fails keeps the first destination`() async throws {
        let attempts = Journal<Int>()
        let performance = try self.performance { router in
            router.preparing = {
                attempts.add(1)
                if attempts.count == 2 { throw Jam() }
            }
        }
        let player = try await performance.perform()
        #expect(await failure { try await performance.perform() }?.code == .handlerFailed)
        #expect(performance.state == .routed)
        #expect(performance.destination === player)
        withExtendedLifetime(player) {}
    }

    @Test
    func `performing or removing during a performance fails with its own code`() async throws {
        let begun = Gate()
        let goOn = Gate()
        let performance = try self.performance { router in
            router.preparing = {
                begun.open()
                await goOn.wait()
            }
        }
        let first = Task { try await performance.perform() }
        await begun.wait()
        #expect(await failure { try await performance.perform() }?.code == .overRoute)
        #expect(await failure { try await performance.remove() }?.code == .actionFailed)
        #expect(performance.state == .routing)
        goOn.open()
        let player = try await first.value
        #expect(performance.state == .routed)
        withExtendedLifetime(player) {}
    }

    @Test
    func `removing a destination that is not shown fails with actionFailed`() async throws {
        let performance = try self.performance()
        #expect(await failure { try await performance.remove() }?.code == .actionFailed)
        let player = try await performance.perform()
        try await performance.remove()
        #expect(await failure { try await performance.remove() }?.code == .actionFailed)
        let second = try await performance.perform()
        #expect(second !== player)
        #expect(performance.state == .routed)
    }

    @Test
    func `a destination whose removal fails stays routed`() async throws {
        let performance = try self.performance { $0.removing = { throw Jam() } }
        let player = try await performance.perform()
        let error = await failure { try await performance.remove() }
        #expect(error?.cause is Jam)
        #expect(performance.state == .routed)
        #expect(performance.destination === player)
    }

    @Test
    func `a destination that is a value is kept until it is removed`() async throws {
        try self.bus.provide(String.self, by: TextRouter())
        let performance = try self.bus.performance(of: String.self)
        try await performance.perform()
        #expect(performance.destination == "text")
        try await performance.remove()
        #expect(performance.destination == nil)
    }

    @Test
    func `cancelling the caller fails the performance`() async throws {
        let begun = Gate()
        let performance = try self.performance { router in
            router.preparing = {
                begun.open()
                try await hang()
            }
        }
        let task = Task { try await performance.perform() }
        await begun.wait()
        task.cancel()
        #expect(await failure { try await task.value }?.code == .cancelled)
        #expect(performance.state == .unrouted)
    }

    @Test
    func `services created on demand and provided services are separate`() async throws {
        let performance = try self.performance()
        #expect(performance.state == .unrouted)
        let error = await failure { try self.bus.service((any Player).self) }
        #expect(error?.code == .noHandler)
        #expect(error?.message.contains("on demand") == true)
        #expect(await failure { try self.bus.performance(of: String.self) }?.code == .noHandler)
    }

    @Test
    func `a performance outlives its bus`() async throws {
        let performance = try self.performance()
        await self.bus.shutDown(drainingUntil: .now)
        let player = try await performance.perform()
        #expect(performance.destination === player)
        #expect(await failure { try self.bus.performance(of: (any Player).self) }?.code == .shutDown)
    }
}

private struct Jam: Error {}

private struct Ticket: Sendable {
    let guest: Guest
}

private struct TicketRouter: ServiceRouter {
    let onRelease: @Sendable () -> Void

    nonisolated(nonsending) func makeDestination() async throws -> Ticket? {
        Ticket(guest: Guest(self.onRelease))
    }
}

private struct TextRouter: ServiceRouter {
    nonisolated(nonsending) func makeDestination() async throws -> String? { "text" }
}
