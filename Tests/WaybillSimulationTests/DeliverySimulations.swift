#if Macros
import Synchronization
import Testing
import Waybill
import WaybillSimulation

/// Simulations of the bus itself, with different seeds each day.
///
/// `WAYBILL_SOAK` makes a hundred times as many runs.
@Suite(.skippedByLeakChecks, .serialized, .timeLimit(.minutes(60)))
struct DeliverySimulations {
    /// The messages that each module has received, by sender.
    fileprivate final class Received: Sendable {
        private let numbers = Mutex<[String: [Int]]>([:])
        private let mistakes = Mutex(0)

        func add(_ number: Int, by module: String, from sender: Int) {
            self.numbers.withLock { numbers in
                let key = "\(module) \(sender)"
                if let last = numbers[key]?.last, last >= number { self.mistakes.withLock { $0 += 1 } }
                numbers[key, default: []].append(number)
            }
        }

        /// Whether each module has received the numbers of each sender in ascending order and without
        /// duplicates.
        var isOrdered: Bool { self.mistakes.withLock { $0 == 0 } }
        var count: Int { self.numbers.withLock { $0.values.reduce(0) { $0 + $1.count } } }
    }

    @Module("app://quick")
    fileprivate actor Quick {
        fileprivate let received: Received

        fileprivate init(_ received: Received) { self.received = received }

        @Route func take(number: Int, sender: Int) { self.received.add(number, by: "quick", from: sender) }
    }

    @Module("app://slow")
    fileprivate actor Slow {
        fileprivate let received: Received

        fileprivate init(_ received: Received) { self.received = received }

        @Route func take(number: Int, sender: Int) async {
            self.received.add(number, by: "slow", from: sender)
            for _ in 0..<number % 3 { await Task.yield() }
        }
    }

    @Module("app://serial")
    fileprivate actor Serial {
        fileprivate let received: Received
        private(set) var running = 0

        fileprivate init(_ received: Received) { self.received = received }

        @Route func take(number: Int, sender: Int) async {
            self.running += 1
            self.received.add(number, by: "serial", from: sender)
            for _ in 0..<number % 4 { await Task.yield() }
            self.running -= 1
        }
    }

    /// A module that routes and sends numbers to all modules.
    @Module("app://sender")
    fileprivate actor Sender {
        @Route func start(sender: Int, count: Int, seed: Int) async throws -> Int {
            let random = SimulationRandom(seed: UInt64(seed))
            var awaited = 0
            for number in 1...count {
                let module = random.pick(["quick", "slow", "serial"])
                let url = "app://\(module)/take?number=\(number)&sender=\(sender)"
                if random.bool() {
                    self.bus.send(url)
                } else {
                    try await self.bus.route(url)
                    awaited += 1
                }
            }
            return awaited
        }
    }

    private static func install(_ received: Received, on bus: MessageBus) async throws {
        try await bus.install { Quick(received) }
        try await bus.install { Slow(received) }
        try await bus.install(mailbox: .init(isSerial: true)) { Serial(received) }
        try await bus.install(instances: .perLoop) { Sender() }
    }

    @Test func `messages of a simulated bus keep their order, and each ends once`() async throws {
        try await simulate(seeds: seedsOfToday(400)) { world in
            let received = Received()
            let node = try await world.node("shop", eventLoops: 3) { bus in
                try await Self.install(received, on: bus)
            }
            world.always("the messages of one sender to one module keep their order") { received.isOrdered }
            world.always("a serial module handles one message at a time") {
                await node.module(Serial.self).running <= 1
            }
            try await world.clients(4) { client, random in
                // Two clients must not have the same number, so the numbers have a wide range.
                let sender = random.int(in: 1...1_000_000_000_000)
                let seed = random.int(in: 1...1_000_000)
                try await client.route("app://sender/start?sender=\(sender)&count=12&seed=\(seed)")
            }
            world.eventually("every message is handled, and counted once") {
                let statistics = node.bus.statistics
                return received.count == 48 && statistics.inFlight == 0 && statistics.replied == 52
                    && statistics.sent == 52
            }
        }
    }

    @Test func `the counts of a bus balance although full mailboxes reject messages`() async throws {
        try await simulate(seeds: seedsOfToday(200)) { world in
            let node = try await world.node("shop", eventLoops: 2) { bus in
                try await bus.install(mailbox: .init(limit: 2, isSerial: true)) { Serial(Received()) }
            }
            let outcomes = Mutex((replied: 0, full: 0))
            try await world.clients(6) { client, _ in
                for number in 1...5 {
                    do {
                        try await client.route("app://serial/take?number=\(number)&sender=1")
                        outcomes.withLock { $0.replied += 1 }
                    } catch let error as RoutingError where error.code == .mailboxFull {
                        outcomes.withLock { $0.full += 1 }
                    }
                }
            }
            let (replied, full) = outcomes.withLock { $0 }
            #expect(replied + full == 30)
            world.eventually("the counts balance") {
                let statistics = node.bus.statistics
                return statistics.replied == replied && statistics.deadLettered == full
                    && statistics.sent == 30
            }
        }
    }

    @Test func `a bus that drains loses no accepted message`() async throws {
        try await simulate(seeds: seedsOfToday(400)) { world in
            let received = Received()
            let node = try await world.node("shop", eventLoops: 2) { bus in
                try await Self.install(received, on: bus)
            }
            let handledAtEnd = Mutex<Int?>(nil)
            try await world.clients(4) { client, random in
                // Two clients must not have the same number, so the numbers have a wide range.
                let sender = random.int(in: 1...1_000_000_000_000)
                if sender % 4 == 0 {
                    try await Task.sleep(for: random.duration(in: .zero ... .milliseconds(5)))
                    await node.bus.shutDown(drainingFor: .seconds(60))
                    handledAtEnd.withLock { $0 = $0 ?? received.count }
                    return
                }
                let seed = random.int(in: 1...1_000_000)
                try await client.route("app://sender/start?sender=\(sender)&count=12&seed=\(seed)")
            }
            await node.bus.shutDown(drainingFor: .seconds(60))
            let statistics = node.bus.statistics
            #expect(statistics.inFlight == 0)
            let outcomes =
                statistics.replied + statistics.failed + statistics.expired + statistics.cancelled
                + statistics.deadLettered
            #expect(statistics.sent == outcomes)
            let count = received.count
            world.eventually("no handler runs after the bus has shut down") {
                handledAtEnd.withLock { $0 ?? count } == received.count
            }
        }
    }
}
#endif
