#if Durable
import Foundation
import Logging
import Testing
import Waybill
import WaybillDurable
import WaybillEventLoop
import WaybillRouting
import WaybillSimulation
import WaybillTestSupport

@Suite(.serialized) struct PowerCutTests {
    @Test func `no durable message is lost, doubled or stuck when the power is cut at any operation`()
        async throws
    {
        let isSoak = ProcessInfo.processInfo.environment["WAYBILL_SOAK"] == "1"
        let violations = try await LifeOfMessages().run(
            cuts: isSoak ? 10_000 : Scale.of(400),
            seed: .random(in: 1...1_000_000)
        )
        #expect(violations == [], "the seed is in the first line")
    }

    // Each of these three tests breaks the promise by one change, which shows that the test above can fail.

    @Test func `the power cut test finds lost messages if commits are not synchronized`() async throws {
        let violations = try await LifeOfMessages(synchronous: "NORMAL").run(cuts: 200, seed: 1)
        #expect(violations.contains { $0.hasPrefix("lost") })
    }

    @Test func `the power cut test finds doubled effects if the completion is a second commit`() async throws
    {
        let violations = try await LifeOfMessages(isOneCommit: false).run(cuts: 200, seed: 2)
        #expect(violations.contains { $0.hasPrefix("doubled") })
    }

    @Test func `the power cut test finds doubled effects if a message is sent again without its key`()
        async throws
    {
        let violations = try await LifeOfMessages(usesKeys: false).run(cuts: 200, seed: 3)
        #expect(violations.contains { $0.hasPrefix("doubled") })
    }
}

/// The life of some messages on a disk that repeatedly loses power.
struct LifeOfMessages {
    var synchronous = "FULL"
    var isOneCommit = true
    var usesKeys = true

    private static let count = 6
    private let disk = FaultyDisk(seed: 1)

    /// Runs lives until the power was cut a number of times.
    ///
    /// - Returns: The violations of the promise, after a line with the seed; empty if there are none.
    func run(cuts: Int, seed: UInt64) async throws -> [String] {
        var generator = SeededGenerator(seed: seed)
        var total = 0
        var violations: [String] = []
        while total < cuts {
            let (count, found) = try await self.life(using: &generator)
            total += max(1, count)
            violations += found
        }
        return violations.isEmpty ? [] : ["seed \(seed)"] + violations
    }

    /// Sends some messages and cuts the power a few times, until all messages have been handled.
    private func life(
        using generator: inout SeededGenerator
    ) async throws -> (cuts: Int, violations: [String]) {
        self.disk.reset(seed: generator.next())
        var accepted: Set<Int> = []
        var cuts = 0
        let cutLimit = Int.random(in: 1...6, using: &generator)
        while true {
            if cuts < cutLimit {
                self.disk.cutPower(afterOperations: .random(in: 1...160, using: &generator))
            }
            let isOver = await self.live(sending: &accepted)
            guard !self.disk.hasPower else {
                if isOver { return (cuts, try await self.violations(accepted)) }
                continue
            }
            cuts += 1
            self.disk.restorePower()
        }
    }

    private func open() async throws -> DurableStore {
        var configuration = DurableStore.Configuration()
        configuration.vfs = self.disk.name
        // The store copies the log into the file in each life.
        configuration.logLimit = 20
        configuration.synchronous = self.synchronous
        configuration.logger = Logger(label: "power") { _ in SwiftLogNoOpLogHandler() }
        let store = try await DurableStore("ledger.db", configuration: configuration)
        let backoff = Backoff(first: .microseconds(100), longest: .microseconds(100))
        try store.setPolicy(DurablePolicy(attempts: 1_000, backoff: backoff), for: "app://**")
        return store
    }

    /// Runs a process from its start until all messages have ended or the power is cut.
    private func live(sending accepted: inout Set<Int>) async -> Bool {
        guard let store = try? await self.open() else { return false }
        let bus = MessageBus()
        do {
            try await self.work(store, bus, &accepted)
        } catch {}
        let statistics = try? await store.statistics()
        await store.close(drainingFor: .zero)
        await bus.shutDown()
        return statistics.map { $0.waiting + $0.underway == 0 } ?? false && accepted.count == Self.count
    }

    private func work(_ store: DurableStore, _ bus: MessageBus, _ accepted: inout Set<Int>) async throws {
        try await store.transaction { transaction in
            try transaction.execute("CREATE TABLE IF NOT EXISTS effects (number INTEGER)")
        }
        let isOneCommit = self.isOneCommit
        try bus.register("app://work/:n") { message in
            let number = try message.parameters.require("n", as: Int.self)
            if isOneCommit {
                try await message.complete { transaction in
                    try transaction.execute("INSERT INTO effects VALUES (?)", number)
                    if number < 100 { try transaction.send("app://work/\(number + 100)") }
                }
            } else {
                try await store.transaction { transaction in
                    try transaction.execute("INSERT INTO effects VALUES (?)", number)
                    if number < 100 {
                        try transaction.send("app://work/\(number + 100)", key: "\(number + 100)")
                    }
                }
            }
        }
        try await bus.attach(store)
        for number in 0..<Self.count where !accepted.contains(number) {
            try await store.send("app://work/\(number)", key: self.usesKeys ? "\(number)" : nil)
            accepted.insert(number)
        }
        while case let statistics = try await store.statistics(), statistics.waiting + statistics.underway > 0
        {
            try await Task.sleep(for: .microseconds(100))
        }
    }

    private func violations(_ accepted: Set<Int>) async throws -> [String] {
        let store = try await self.open()
        let rows = try await store.transaction { transaction in
            try transaction.query("SELECT number, count(*) AS count FROM effects GROUP BY number")
        }
        let dead = try await store.messages(in: .dead)
        let problems = try await store.check()
        await store.close()
        let counts = Dictionary(
            uniqueKeysWithValues: rows.map { ($0["number"]?.int ?? 0, $0["count"]?.int ?? 0) }
        )
        var violations = dead.map { "stuck \($0.url)" } + problems.map { "damaged \($0)" }
        for number in accepted.flatMap({ [$0, $0 + 100] }) {
            switch counts[number, default: 0] {
            case 0: violations.append("lost \(number)")
            case 1: break
            default: violations.append("doubled \(number)")
            }
        }
        return violations
    }
}
#endif
