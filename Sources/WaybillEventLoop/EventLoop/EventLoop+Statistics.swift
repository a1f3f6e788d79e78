internal import Synchronization

extension EventLoop {
    /// Counts of the work that a loop has run and of the work that is queued, at one moment.
    public struct Statistics: Hashable, Sendable {
        /// The number of jobs, closures and timers that have been started.
        public let jobsRun: Int

        /// The number of jobs and closures that are queued.
        public let queueDepth: Int

        /// The number of timers that have not fired; each sleeping task has one.
        public let pendingTimers: Int

        /// The time since the creation of the loop in which the loop had no work and slept or spun.
        public let idleTime: Duration
    }

    /// The current counts of work.
    ///
    /// Any thread may read the counts. The loop continues to run while they are read.
    public var statistics: Statistics {
        let counters = self.core.counters.snapshot()
        let pushes = self.core.inbox.pushCount &+ counters.localPushes
        return Statistics(
            jobsRun: Int(clamping: counters.runs),
            // The counts are read one after another while the loop runs, so the difference may be negative.
            queueDepth: max(0, Int(bitPattern: pushes &- counters.pops)),
            pendingTimers: counters.timers,
            idleTime: .nanoseconds(counters.idle)
        )
    }
}

/// The counters behind ``EventLoop/Statistics``.
///
/// Only the loop's thread writes the counters, and any thread reads them. With a single writer, an increment
/// is a load and a store instead of a locked instruction.
struct LoopCounters: ~Copyable {
    /// The values of all counters, read one after another.
    struct Snapshot {
        let runs: UInt
        let localPushes: UInt
        let pops: UInt
        let timers: Int
        let idle: Int64
    }

    /// The jobs, closures and timers that have been started.
    let runs = Atomic<UInt>(0)
    /// The items that the loop's own thread has enqueued.
    let localPushes = Atomic<UInt>(0)
    /// The queued items that have been started.
    let pops = Atomic<UInt>(0)
    /// The timers that have not fired.
    let timers = Atomic<Int>(0)
    /// Whether the loop is running work.
    let isBusy = Atomic<Bool>(false)
    /// The time that the loop has had no work, in nanoseconds, without the current sleep.
    private let idle = Atomic<Int64>(0)
    /// The time at which the loop went to sleep; zero while it is awake.
    private let parkedAt = Atomic<Int64>(0)

    static func increment(_ counter: borrowing Atomic<UInt>) {
        counter.store(counter.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    }

    /// Adds a period without work.
    func addIdle(from start: Int64, to end: Int64) {
        let sum = self.idle.load(ordering: .relaxed) &+ max(0, end &- start)
        self.idle.store(sum, ordering: .releasing)
    }

    /// Records that the loop sleeps from now on.
    func park(at now: Int64) { self.parkedAt.store(now, ordering: .releasing) }

    /// Records that the loop is awake again.
    func unpark(since start: Int64, at now: Int64) {
        self.parkedAt.store(0, ordering: .releasing)
        self.addIdle(from: start, to: now)
    }

    func snapshot() -> Snapshot {
        // Read the pops before the pushes. An item is pushed before it is popped, so the difference of the
        // two counts is seldom negative.
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
            // If the loop woke between the two reads, the last sleep would be counted twice or not at all.
            if again == parkedAt { return parkedAt == 0 ? idle : idle + max(0, MonotonicTime.now - parkedAt) }
            parkedAt = again
        }
    }
}
