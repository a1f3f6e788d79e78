import Dispatch
import Foundation
import Synchronization
import Testing
import WaybillSimulation

@Suite(.skippedByLeakChecks, .timeLimit(.minutes(5)))
struct EscapeTests {
    @Test func `work for the main actor fails the simulation`() async throws {
        let failure = try await failure { _ in await MainActor.run {} }
        #expect(failure.reason.hasPrefix("Another thread enqueued work in the simulation"))
    }

    @Test func `work that another thread enqueues fails the simulation`() async throws {
        let failure = try await failure { _ in
            let stored = Mutex<CheckedContinuation<Void, Never>?>(nil)
            let resuming = Task {
                // All tasks of a simulation share one thread, so the program waits when this loop ends.
                while stored.withLock({ $0 == nil }) { await Task.yield() }
                onAnotherThread { stored.withLock { $0 }?.resume() }
            }
            await withCheckedContinuation { waiter in stored.withLock { $0 = waiter } }
            await resuming.value
        }
        #expect(failure.reason.hasPrefix("Another thread enqueued work in the simulation"))
    }

    @Test func `a simulation of code that remembers earlier runs fails as not repeatable`() async throws {
        let runs = Atomic(0)
        let failure = try await failure { world in
            for _ in 0..<runs.add(1, ordering: .relaxed).newValue {
                try await Task.sleep(for: .milliseconds(1))
            }
            world.eventually("it fails") { false }
        }
        #expect(failure.reason.hasPrefix("Two runs of the same seed differ"))
    }

    @Test func `the clocks and random numbers of a simulated program follow the seed`() async throws {
        let values = Mutex<[[String]]>([])
        for seed in [1, 1, 2] as [UInt64] {
            try await simulate(seed: seed) { world in
                var seen = ["\(UInt64.random(in: 0 ... .max))", "\([1, 2, 3, 4, 5, 6, 7, 8].shuffled())"]
                try await Task.sleep(for: .seconds(60))
                seen += [
                    "\(ContinuousClock.now)", "\(SuspendingClock.now)", "\(Date().timeIntervalSince1970)",
                ]
                values.withLock { [seen] in $0.append(seen) }
                #expect(world.elapsed == .seconds(60))
            }
        }
        let runs = values.withLock { $0 }
        #expect(runs[0] == runs[1])
        #expect(runs[0][0] != runs[2][0])
        #expect(runs[0].last == "1767225660.0")
        // Outside of the simulation, the clock is right: the day after the simulated day has come.
        #expect(Date().timeIntervalSince1970 > 1_767_312_000)
    }

    @Test func `detached tasks, task groups and plain actors are simulated too`() async throws {
        actor Plain {
            var count = 0
            func add() { self.count += 1 }
        }
        try await simulate(seeds: 1...50) { _ in
            let plain = Plain()
            await withTaskGroup { group in
                for _ in 0..<10 { group.addTask { await plain.add() } }
            }
            await Task.detached { await plain.add() }.value
            async let last: Void = plain.add()
            await last
            await #expect(plain.count == 12)
        }
    }
}

/// Calls a closure on another thread, and returns after the call.
private func onAnotherThread(_ body: @escaping @Sendable () -> Void) {
    let done = DispatchSemaphore(value: 0)
    DispatchQueue.global().async {
        body()
        done.signal()
    }
    done.wait()
}
