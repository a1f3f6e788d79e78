internal import CLibUV
internal import Logging
internal import Synchronization

/// Logs a warning when one job holds a loop for too long.
///
/// One thread samples all loops of the process, four times per threshold or more often. The watchdog
/// therefore detects every job that lasts longer than 1.25 times the threshold, except in the first moment of
/// a loop. The loops only count their jobs. The thread ends when no loop is left.
final class Watchdog: Sendable {
    struct Entry {
        let core: LoopCore
        var watch: JobWatch
    }

    struct State {
        var entries: [ObjectIdentifier: Entry] = [:]
        var hasThread = false
    }

    struct Finding {
        let core: LoopCore
        let duration: Int64
    }

    static let shared = Watchdog()

    private let state = Locked(State())

    /// The longest time between two samples, in milliseconds.
    ///
    /// The thread does not notice a new loop, whose threshold may be short, before the next sample.
    private static let longestSleep: Int64 = 50

    /// Starts to sample a loop.
    func add(_ core: LoopCore, threshold: Duration) {
        let needsThread = self.state.withLock { state in
            state.entries[ObjectIdentifier(core)] = Entry(
                core: core,
                watch: JobWatch(threshold: threshold.wholeNanoseconds)
            )
            defer { state.hasThread = true }
            return !state.hasThread
        }
        if needsThread { LoopThread.start(name: "loop watchdog") { self.run() } }
    }

    /// Stops sampling a loop.
    func remove(_ core: LoopCore) {
        _ = self.state.withLock { $0.entries.removeValue(forKey: ObjectIdentifier(core)) }
    }

    private func run() {
        while let interval = self.interval() {
            uv_sleep(interval)
            for finding in self.sample() { Self.report(finding) }
        }
    }

    /// Returns the milliseconds until the next sample, or nil if no loop is left and the thread must end.
    private func interval() -> UInt32? {
        self.state.withLock { state in
            guard let shortest = state.entries.values.map(\.watch.threshold).min() else {
                state.hasThread = false
                return nil
            }
            return UInt32(min(max(1, shortest / 4_000_000), Self.longestSleep))
        }
    }

    private func sample() -> [Finding] {
        self.state.withLock { state in
            let now = MonotonicTime.now
            return Array(state.entries.keys).compactMap { key in
                guard let core = state.entries[key]?.core else { return nil }
                let duration = state.entries[key]?.watch.sample(
                    runs: core.counters.runs.load(ordering: .relaxed),
                    isBusy: core.counters.isBusy.load(ordering: .relaxed),
                    at: now
                )
                return duration.map { Finding(core: core, duration: $0) }
            }
        }
    }

    private static func report(_ finding: Finding) {
        finding.core.configuration.logger.warning(
            "one job has occupied the event loop for too long",
            metadata: [
                "event-loop": .string(finding.core.name),
                "held-ms": .stringConvertible(finding.duration / 1_000_000),
            ]
        )
    }
}

/// Decides, from samples of one loop, whether a job has held the loop for too long.
///
/// The loop only counts the jobs that it starts. If two samples see the same count on a busy loop, one job
/// has held the loop at least from the first sample to the second. The job may have begun before the first
/// sample.
struct JobWatch {
    let threshold: Int64

    private var runs: UInt = 0
    /// The time of the first sample that saw the running job; nil when no job was running.
    private var noticedAt: Int64?
    private var isReported = false

    init(threshold: Int64) {
        self.threshold = threshold
    }

    /// Records a sample, and returns a lower bound of the time that the job has run, or nil.
    ///
    /// The method returns the bound once for each job, at the first sample in which the bound reaches the
    /// threshold. All times are in nanoseconds.
    mutating func sample(runs: UInt, isBusy: Bool, at now: Int64) -> Int64? {
        guard isBusy else {
            self.noticedAt = nil
            return nil
        }
        guard let noticedAt = self.noticedAt, self.runs == runs else {
            self.runs = runs
            self.noticedAt = now
            self.isReported = false
            return nil
        }
        guard !self.isReported, now - noticedAt >= self.threshold else { return nil }
        self.isReported = true
        return now - noticedAt
    }
}
