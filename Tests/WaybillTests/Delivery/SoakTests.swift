internal import Foundation
import Testing
import Waybill
import WaybillEventLoop
import WaybillRouting
internal import WaybillTestSupport

/// Random operations at the same time.
///
/// At the end the statistics balance, and no message is left.
///
/// `WAYBILL_SOAK_MESSAGES` sets the number of messages. `WAYBILL_SOAK_SEED` repeats a run, as far as the
/// scheduling of threads permits.
@Suite(.serialized, .timeLimit(.minutes(30)))
struct SoakTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let messages =
        Self.environment["WAYBILL_SOAK_MESSAGES"].flatMap(Int.init) ?? Scale.of(60_000)
    private static let seed =
        Self.environment["WAYBILL_SOAK_SEED"].flatMap { UInt64($0) } ?? .random(in: 0..<1_000_000)

    private static let senders = 8

    /// Makes loops, tasks and threads send messages to a bus.
    private func act(in town: SoakTown, _ count: Int, _ seed: UInt64) async {
        await withTaskGroup(of: Void.self) { group in
            for sender in 0..<Self.senders {
                let act: @Sendable () async -> Void = {
                    var dice = SeededGenerator(seed: seed &+ UInt64(sender))
                    for _ in 0..<(count / Self.senders) { await town.act(&dice) }
                }
                switch sender {
                case 0..<3: group.addTask { await Probe(eventLoop: town.loops[sender]).run { await act() } }
                case 3..<6: group.addTask { await act() }
                default:
                    group.addTask {
                        await onThread {
                            var dice = SeededGenerator(seed: seed &+ UInt64(sender))
                            for _ in 0..<(count / Self.senders) {
                                town.send(&dice)
                                // The pauses let messages of other senders into the mailboxes.
                                if Int.random(in: 0..<8, using: &dice) == 0 { pauseThread() }
                            }
                        }
                    }
                }
            }
        }
    }

    /// Counts dead letters until the sequence ends.
    private func count(_ letters: DeadLetters) async -> Int {
        var count = 0
        for await letter in letters {
            #expect(letter.url == letter.message?.address.description ?? letter.url)
            count += 1
        }
        return count + letters.dropped
    }

    /// Runs the test once.
    ///
    /// - Returns: A closure that returns the captures of the handlers while they exist.
    private func soak(_ count: Int, _ seed: UInt64) async throws -> () -> Probe? {
        let town = try SoakTown()
        let bus = town.bus
        weak let module = town.modules[2]
        // Create the sequence here, because the task that counts its elements may begin later.
        let watched = bus.deadLetters(limit: 1 << 16)
        async let letters = self.count(watched)
        let stopped = Journal<Bool>()
        async let comings: Void = town.comeAndGo(until: stopped)
        await self.act(in: town, count, seed)
        stopped.add(true)
        await comings
        town.gate.open()
        // A hanging handler would never end.
        bus.unregister("app://hangs")
        #expect(await bus.settles(), "seed \(seed): \(bus.statistics)")

        let books = bus.statistics
        let seen = town.books.counts
        #expect(
            await eventually { bus.routeStatistics.allSatisfy { $0.counts.inFlight == 0 } },
            "seed \(seed)"
        )
        let elsewhere = bus.routeStatistics.reduce(books) { $0 - $1.counts }
        #expect(elsewhere.inFlight == 0 && elsewhere.replied == seen.heard, "seed \(seed): \(elsewhere)")
        #expect(elsewhere.failed == seen.refused, "seed \(seed): \(elsewhere)")
        #expect(books.sent >= seen.given + seen.heard + seen.refused, "seed \(seed): \(books) \(seen)")
        #expect(books.failed == seen.failed + seen.refused, "seed \(seed): \(books) \(seen)")
        // A cancelled caller does not know whether the cancellation or an earlier event ended its message.
        let unseen = books.expired + books.cancelled - seen.expired - seen.cancelled
        #expect((0...seen.left).contains(unseen), "seed \(seed): \(books) \(seen)")
        #expect(
            books.expired >= seen.expired && books.cancelled >= seen.cancelled,
            "seed \(seed): \(books) \(seen)"
        )
        #expect(min(books.replied, books.failed, books.expired, books.cancelled, books.deadLettered) > 0)
        #expect(await bus.shutDown(drainingUntil: .now + .seconds(1)).abandoned == 0, "seed \(seed)")
        // A handler without a waiting caller may still reply, which changes only this counter.
        var after = bus.statistics
        after.lateReplies = books.lateReplies
        #expect(after == books, "seed \(seed)")
        #expect(await letters == books.deadLettered, "seed \(seed)")
        #expect(await eventually { town.books.counts.running == 0 }, "seed \(seed)")
        #expect(bus.statistics.lateReplies > 0, "seed \(seed)")
        print("soak: seed \(seed), \(books)")
        return { module }
    }

    /// The runtime and the allocator keep some memory for later tasks and threads, independent of the number
    /// of messages.
    ///
    /// A leak of one byte for each of a million messages is more.
    private static let tolerance = 384 << 10

    /// The bytes in use before each round.
    private static let inUse = Journal<Int>()

    /// The first round allocates shared state.
    ///
    /// The last round finds leaks of the two rounds before it.
    ///
    /// Each round is a test case, because Swift Testing keeps the stack of every thrown error until its test
    /// case ends.
    @Test(arguments: 1...4)
    func `each message of a soak test has one outcome, and none is in flight at the end`(
        round: Int
    ) async throws {
        // Threads that are ending need some time.
        try await Task.sleep(for: .milliseconds(200))
        if let bytes = memoryInUse() { Self.inUse.add(bytes) }
        let module = try await self.soak(Self.messages / 4, Self.seed &+ UInt64(round))
        #expect(await eventually { module() == nil }, "seed \(Self.seed)")
        let inUse = Self.inUse.entries
        guard round == 4, inUse.count == 4 else { return }
        print("soak: bytes in use before each round: \(inUse)")
        #expect(inUse[3] - inUse[1] < Self.tolerance, "seed \(Self.seed)")
    }
}
