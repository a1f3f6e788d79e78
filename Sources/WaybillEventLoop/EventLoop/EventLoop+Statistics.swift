internal import Synchronization

extension EventLoop {
    /// The work that a loop has done and that is queued, at one moment.
    public struct Statistics: Hashable, Sendable {
        /// Jobs, closures and timers that have been started.
        public let jobsRun: Int

        /// Jobs and closures that wait to be run.
        public let queueDepth: Int

        /// Timers that wait for their time; each sleeper is one.
        public let pendingTimers: Int

        /// How long the loop had nothing to do since it was created, asleep or spinning.
        public let idleTime: Duration
    }

    /// The work that the loop has done and that is queued; from any thread, without stopping the loop.
    public var statistics: Statistics {
        let counters = self.core.counters.snapshot()
        let pushes = self.core.inbox.pushCount &+ counters.localPushes
        return Statistics(
            jobsRun: Int(clamping: counters.runs),
            // The counts are read one after the other, while the loop runs.
            queueDepth: max(0, Int(bitPattern: pushes &- counters.pops)),
            pendingTimers: counters.timers,
            idleTime: .nanoseconds(counters.idle)
        )
    }
}

/// The counts behind ``EventLoop/Statistics``; written by the loop's thread alone, read by any thread.
///
/// With one writer a count is a load and a store, not a locked instruction.
struct LoopCounters: ~Copyable {
    /// All counts, taken one after the other.
    struct Snapshot {
        let runs: UInt
        let localPushes: UInt
        let pops: UInt
        let timers: Int
        let idle: Int64
    }

    /// Jobs, closures and timers that have been started.
    let runs = Atomic<UInt>(0)
    /// Items that the loop's own thread has queued.
    let localPushes = Atomic<UInt>(0)
    /// Queued items that have been started.
    let pops = Atomic<UInt>(0)
    /// Timers that wait.
    let timers = Atomic<Int>(0)
    /// Whether the loop runs work at this moment.
    let isBusy = Atomic<Bool>(false)
    /// Nanoseconds without anything to do, up to the last time that the loop woke.
    private let idle = Atomic<Int64>(0)
    /// Since when the loop sleeps; zero while it is awake.
    private let parkedAt = Atomic<Int64>(0)

    @inline(__always)
    static func increment(_ counter: borrowing Atomic<UInt>) {
        counter.store(counter.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    }

    /// Counts time without anything to do.
    func addIdle(from start: Int64, to end: Int64) {
        let sum = self.idle.load(ordering: .relaxed) &+ max(0, end &- start)
        self.idle.store(sum, ordering: .releasing)
    }

    /// The loop sleeps from now on.
    func park(at now: Int64) { self.parkedAt.store(now, ordering: .releasing) }

    /// The loop is awake again.
    func unpark(since start: Int64, at now: Int64) {
        self.parkedAt.store(0, ordering: .releasing)
        self.addIdle(from: start, to: now)
    }

    /// All counts.
    func snapshot() -> Snapshot {
        // What is popped was pushed before: read in this order the difference is never negative for long.
        let pops = self.pops.load(ordering: .acquiring)
        return Snapshot(
            runs: self.runs.load(ordering: .relaxed),
            localPushes: self.localPushes.load(ordering: .relaxed),
            pops: pops,
            timers: self.timers.load(ordering: .relaxed),
            idle: self.idleNow()
        )
    }

    private func idleNow() -> Int64 {
        var parkedAt = self.parkedAt.load(ordering: .acquiring)
        while true {
            let idle = self.idle.load(ordering: .acquiring)
            let again = self.parkedAt.load(ordering: .acquiring)
            // If the loop woke in between, its last sleep would be counted twice or not at all.
            if again == parkedAt { return parkedAt == 0 ? idle : idle + max(0, MonotonicTime.now - parkedAt) }
            parkedAt = again
        }
    }
}
