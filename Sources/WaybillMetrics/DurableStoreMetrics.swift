#if Metrics && Durable
public import Metrics
public import WaybillDurable

/// Records the statistics of a durable store with swift-metrics, at regular intervals.
///
/// ```swift
/// let metrics = DurableStoreMetrics(of: store)
/// Task { try await metrics.run() }
/// ```
///
/// | label | kind | value |
/// | --- | --- | --- |
/// | `waybill_store_waiting` | meter | messages that wait for an attempt |
/// | `waybill_store_underway` | meter | attempts that are underway |
/// | `waybill_store_dead` | meter | dead letters |
/// | `waybill_store_oldest_age_seconds` | meter | age of the oldest message that is not dead; 0 if none |
/// | `waybill_store_size_bytes` | meter | bytes of the file that contain data |
/// | `waybill_store_attempts` | counter | attempts that have begun |
/// | `waybill_store_commits` | counter | commits |
/// | `waybill_store_commit_duration` | timer | mean duration of the commits in an interval that has commits |
///
/// All metrics have the dimension `store`, which is the name of the store. Each reading counts the messages
/// in the file, so choose a longer interval for a store with millions of messages.
public struct DurableStoreMetrics: Sendable {
    private let store: DurableStore
    private let interval: Duration
    private let waiting, underway, dead, oldestAge, size: Meter
    private let attempts, commits: Counter
    private let commitDuration: Timer

    /// Creates the metrics of a store.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - name: The value of the dimension `store`, which distinguishes the stores of a program.
    ///   - interval: The time between two readings; 15 seconds by default.
    ///   - factory: The factory of the metrics; nil for the factory that the program has set with
    ///     `MetricsSystem.bootstrap`.
    ///   - prefix: The prefix of the labels.
    public init(
        of store: DurableStore,
        named name: String = "store",
        every interval: Duration = .seconds(15),
        factory: (any MetricsFactory)? = nil,
        prefix: String = "waybill"
    ) {
        let factory = factory ?? MetricsSystem.factory
        let dimensions = [("store", name)]
        func meter(_ label: String) -> Meter {
            Meter(label: "\(prefix)_store_\(label)", dimensions: dimensions, factory: factory)
        }
        func counter(_ label: String) -> Counter {
            Counter(label: "\(prefix)_store_\(label)", dimensions: dimensions, factory: factory)
        }
        self.store = store
        self.interval = interval
        self.waiting = meter("waiting")
        self.underway = meter("underway")
        self.dead = meter("dead")
        self.oldestAge = meter("oldest_age_seconds")
        self.size = meter("size_bytes")
        self.attempts = counter("attempts")
        self.commits = counter("commits")
        self.commitDuration = Timer(
            label: "\(prefix)_store_commit_duration",
            dimensions: dimensions,
            factory: factory
        )
    }

    /// Records the statistics until the task is cancelled or the store is closed.
    ///
    /// If a reading fails, for example because the disk is full, no value is recorded for that interval. The
    /// counters begin with the counts since the store was opened, so call this method once for each store.
    ///
    /// - Throws: `CancellationError`, or `DurableError` with `closed` or `stopped`.
    public func run() async throws {
        var last: DurableStatistics?
        while true {
            do {
                let statistics = try await self.store.statistics()
                self.record(statistics, since: last)
                last = statistics
            } catch let error as DurableError where ![.closed, .stopped].contains(error.code) {
            }
            try await Task.sleep(for: self.interval)
        }
    }

    private func record(_ statistics: DurableStatistics, since last: DurableStatistics?) {
        self.waiting.set(statistics.waiting)
        self.underway.set(statistics.underway)
        self.dead.set(statistics.dead)
        self.oldestAge.set(Double(statistics.oldestAge ?? 0) / 1_000)
        self.size.set(statistics.size)
        self.attempts.increment(by: statistics.attempts - (last?.attempts ?? 0))
        let commits = statistics.commits - (last?.commits ?? 0)
        guard commits > 0 else { return }
        self.commits.increment(by: commits)
        self.commitDuration.recordMicroseconds((statistics.commitTime - (last?.commitTime ?? 0)) / commits)
    }
}
#endif
