#if Macros
import Waybill
import WaybillSimulation

// Defects that appear when a message is late, cancelled or retried.

@Module("app://refunds")
actor Refunds {
    private(set) var refunded: [Int: Int] = [:]

    @Route func pay(order: Int) async throws {
        try await Task.sleep(for: .milliseconds(100))
        self.refunded[order, default: 0] += 1
    }
}

extension PlantedBug {
    /// Issue 337 of celery/kombu: a job that a worker still has is given out again after a timeout.
    static let doubleRefund = PlantedBug(
        "a refund is paid twice after a timeout",
        faults: Faults(delay: .upTo(.seconds(30)))
    ) { world in
        let node = try await world.node("refunds") { bus in try await bus.install { Refunds() } }
        world.always("no order is refunded twice") {
            await node.module(Refunds.self).refunded.values.allSatisfy { $0 <= 1 }
        }
        try await world.clients(3) { client, random in
            let order = random.int(in: 1...1_000_000)
            for _ in 0..<2 {
                let url = "app://refunds/pay?order=\(order)"
                if (try? await client.route(url, timeout: .seconds(5))) != nil { return }
            }
        }
    } ordinaryTest: { bus in
        let refunds = try await bus.install { Refunds() }.module
        try await bus.route("app://refunds/pay?order=1", timeout: .seconds(5))
        return await refunds.refunded == [1: 1]
    }
}

@Module("app://seats")
actor Seats {
    private(set) var reserved = 0

    @Route func reserve() async throws -> Int {
        self.reserved += 1
        // The payment may be cancelled, and then no code releases the seat.
        try await Task.sleep(for: .milliseconds(50))
        self.reserved -= 1
        return self.reserved
    }
}

extension PlantedBug {
    /// Issue 56393 of quarkusio/quarkus: a caller that is cancelled leaves a permit of a pool behind.
    static let forgottenReservation = PlantedBug(
        "a cancelled caller leaves a reservation behind",
        faults: Faults(cancellation: 0.1)
    ) { world in
        let node = try await world.node("seats") { bus in try await bus.install { Seats() } }
        world.eventually("no seat stays reserved") { await node.module(Seats.self).reserved == 0 }
        try await world.clients(5) { client, _ in try await client.route("app://seats/reserve") }
    } ordinaryTest: { bus in
        let seats = try await bus.install { Seats() }.module
        try await bus.route("app://seats/reserve")
        return await seats.reserved == 0
    }
}

@Module("app://charges")
actor Charges {
    private(set) var count = 0

    @Route func add() -> Int {
        self.count += 1
        return self.count
    }
}

@Module("app://checkout")
actor Checkout {
    private(set) var orders = 0

    @Route func order() async throws {
        var attempts = 1
        while (try? await self.bus.route("app://charges/add", as: Int.self)) == nil, attempts < 3 {
            attempts += 1
            try await Task.sleep(for: .milliseconds(100))
        }
        self.orders += 1
    }
}

extension PlantedBug {
    static let retryThatIsNotIdempotent = PlantedBug(
        "a retry repeats what a lost reply has confirmed",
        faults: Faults(failure: 0.05)
    ) { world in
        let node = try await world.node("checkout") { bus in
            try await bus.install { Charges() }
            return try await bus.install { Checkout() }
        }
        world.eventually("no order is charged twice") {
            let charges = await node.module(Charges.self).count
            return await charges <= node.module(Checkout.self).orders
        }
        try await world.clients(3) { client, _ in try await client.route("app://checkout/order") }
    } ordinaryTest: { bus in
        let charges = try await bus.install { Charges() }.module
        try await bus.install { Checkout() }
        try await bus.route("app://checkout/order")
        return await charges.count == 1
    }
}

@Module("app://ledger")
actor Ledger {
    private(set) var debits = 0
    private(set) var credits = 0

    @Route func move(amount: Int) async throws {
        self.debits += amount
        try await Task.sleep(for: .milliseconds(800))
        self.credits += amount
    }
}

extension PlantedBug {
    static let deadlineBetweenWrites = PlantedBug(
        "a deadline passes between two writes",
        faults: Faults(delay: .upTo(.seconds(2)))
    ) { world in
        let node = try await world.node("ledger") { bus in try await bus.install { Ledger() } }
        world.eventually("each debit has its credit") {
            let ledger = await node.module(Ledger.self)
            return await ledger.debits == ledger.credits
        }
        try await world.clients(3) { client, _ in
            try await client.route("app://ledger/move?amount=5", timeout: .seconds(1))
        }
    } ordinaryTest: { bus in
        let ledger = try await bus.install { Ledger() }.module
        try await bus.route("app://ledger/move?amount=5", timeout: .seconds(5))
        return await ledger.debits == ledger.credits
    }
}

@Module("app://printer")
actor Printer {
    private(set) var permits = 2

    @Route func print() async throws -> Bool {
        guard self.permits > 0 else { return false }
        self.permits -= 1
        // When the call throws, this function does not return the permit.
        try await self.bus.route("app://paper/feed")
        self.permits += 1
        return true
    }
}

@Module("app://paper")
actor Paper {
    @Route func feed() async throws { try await Task.sleep(for: .milliseconds(10)) }
}

extension PlantedBug {
    /// Pull request 488 of AsyncHttpClient/async-http-client: a connection that fails keeps its permit.
    static let leakedPermit = PlantedBug(
        "an error leaks a permit",
        faults: Faults(failure: 0.02)
    ) { world in
        let node = try await world.node("printer") { bus in
            try await bus.install { Paper() }
            return try await bus.install { Printer() }
        }
        world.eventually("all permits come back") { await node.module(Printer.self).permits == 2 }
        try await world.clients(4) { client, _ in try await client.route("app://printer/print") }
    } ordinaryTest: { bus in
        try await bus.install { Paper() }
        let printer = try await bus.install { Printer() }.module
        for _ in 0..<3 { try await bus.route("app://printer/print") }
        return await printer.permits == 2
    }
}
#endif
