internal import CLibUV
internal import Logging
internal import Synchronization

/// Logs when one job holds a loop for too long.
///
/// One thread samples all loops of the process, four times per threshold: a job that lasts longer than the
/// threshold and a quarter is always detected. The loops only count their jobs. The thread ends with the last
/// loop.
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
        let removed = self.state.withLock { $0.entries.removeValue(forKey: ObjectIdentifier(core)) }
        // Released outside of the lock.
        _ = consume removed
    }

    private func run() {
        while let interval = self.interval() {
            uv_sleep(interval)
            for finding in self.sample() { Self.report(finding) }
        }
    }

    /// Milliseconds until the next sample, or nil if there is no loop left and the thread ends.
    private func interval() -> UInt32? {
        self.state.withLock { state in
            guard let shortest = state.entries.values.map(\.watch.threshold).min() else {
                state.hasThread = false
                return nil
            }
            return UInt32(clamping: max(1, shortest / 4_000_000))
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
            "one job holds the event loop",
            metadata: [
                "event-loop": .string(finding.core.name),
                "held-ms": .stringConvertible(finding.duration / 1_000_000),
            ]
        )
    }
}

/// Decides from samples of one loop whether a job has held it for too long.
///
/// The loop only counts the jobs that it starts. If two samples see the same count of a busy loop, one job
/// has held it at least from the first sample to the second; the job may have begun before the first.
struct JobWatch {
    let threshold: Int64

    private var runs: UInt = 0
    /// When the running job was first seen, if one runs.
    private var noticedAt: Int64?
    private var isReported = false

    init(threshold: Int64) {
        self.threshold = threshold
    }

    /// Takes a sample.
    ///
    /// - Parameters:
    ///   - runs: How many jobs the loop has started.
    ///   - isBusy: Whether it runs one.
    ///   - now: Nanoseconds.
    /// - Returns: For how long at least the job has run, the first time that this is too long.
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
