#if Durable
import Foundation
import Logging
import Testing
import Waybill
import WaybillDurable
import WaybillEventLoop
import WaybillRouting
import WaybillTestSupport

/// Random programs of sends, transactions, failures, delays and restarts, compared with a model in memory.
@Suite struct StoreModelTests {
    /// A message of the program, and the number of times that its handler fails before it returns.
    private struct Sent {
        let number: Int
        let failures: Int
        let order: String?
    }

    /// The model: which messages were accepted, and which keys were used.
    private struct Model {
        static let attempts = 3

        var sent: [Sent] = []
        var keys: Set<String> = []

        var handled: [Int] { self.sent.filter { $0.failures < Self.attempts }.map(\.number) }
        var dead: [Int] { self.sent.filter { $0.failures >= Self.attempts }.map(\.number) }

        func handled(inOrder order: String) -> [Int] {
            self.sent.filter { $0.order == order && $0.failures < Self.attempts }.map(\.number)
        }

        mutating func accept(_ message: Sent, key: String?) {
            if let key, !self.keys.insert(key).inserted { return }
            self.sent.append(message)
        }
    }

    private struct Refusal: Error {}

    @Test func `random operations on a store agree with a model in memory`() async throws {
        for _ in 0..<Scale.of(30) {
            let seed = UInt64.random(in: 1...UInt64.max)
            try await self.run(seed)
        }
    }

    private func run(_ seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let path = temporaryPath()
        defer { removeStore(path) }
        var model = Model()
        let handled = Journal<Int>()
        let failures = Failures()
        var process = try await self.start(path, handled, failures)
        for number in 0..<40 {
            let message = Sent(
                number: number,
                failures: [0, 0, 0, 1, 2, 3].randomElement(using: &generator) ?? 0,
                order: [nil, nil, "a", "b"].randomElement(using: &generator) ?? nil
            )
            let url = "app://work/\(number)?failures=\(message.failures)"
            let delay = Duration.milliseconds(Int.random(in: -2...4, using: &generator))
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<5:
                let key = Bool.random(using: &generator) ? "\(Int.random(in: 0..<6, using: &generator))" : nil
                let isNew = key.map { !model.keys.contains($0) } ?? true
                let receipt = try await process.store.send(url, key: key, after: delay, order: message.order)
                #expect(receipt.isDuplicate == !isNew, "seed \(seed)")
                model.accept(message, key: key)
            case 5..<7:
                try await process.store.transaction { transaction in
                    try transaction.send(url, after: delay, order: message.order)
                }
                model.accept(message, key: nil)
            case 7:
                let key = "\(Int.random(in: 0..<6, using: &generator))"
                await #expect(throws: Refusal.self) {
                    try await process.store.transaction { transaction in
                        try transaction.send(url, key: key, order: message.order)
                        throw Refusal()
                    }
                }
            case 8: try await Task.sleep(for: .milliseconds(1))
            default:
                await process.store.close()
                await process.bus.shutDown()
                process = try await self.start(path, handled, failures)
            }
        }
        await process.store.isIdle()
        #expect(handled.entries.sorted() == model.handled, "seed \(seed)")
        for order in ["a", "b"] {
            let expected = model.handled(inOrder: order)
            let members = Set(expected)
            #expect(handled.entries.filter(members.contains) == expected, "order \(order), seed \(seed)")
        }
        let dead = try await process.store.messages(in: .dead).compactMap { letter in
            try Address(letter.url).segments.last.flatMap { Int($0) }
        }
        #expect(dead == model.dead, "seed \(seed)")
        await process.store.close()
        await process.bus.shutDown()
    }

    private func start(
        _ path: String,
        _ handled: Journal<Int>,
        _ failures: Failures
    ) async throws -> (store: DurableStore, bus: MessageBus) {
        var configuration = DurableStore.Configuration()
        configuration.logger.logLevel = .critical
        let store = try await DurableStore(path, configuration: configuration)
        let backoff = Backoff(first: .milliseconds(1), longest: .milliseconds(2))
        try store.setPolicy(DurablePolicy(attempts: Model.attempts, backoff: backoff), for: "app://**")
        let bus = MessageBus()
        try bus.register("app://work/:n") { message in
            let number = try message.parameters.require("n", as: Int.self)
            if failures.add(number) <= (try message.parameters.require("failures", as: Int.self)) {
                throw OrderError.closed
            }
            handled.add(number)
        }
        try await bus.attach(store)
        return (store, bus)
    }

    /// Counts how often each message was handled, also across restarts.
    private final class Failures: Sendable {
        private let counts = Locked<[Int: Int]>([:])

        func add(_ number: Int) -> Int {
            self.counts.withLock { counts in
                counts[number, default: 0] += 1
                return counts[number, default: 0]
            }
        }
    }
}
#endif
