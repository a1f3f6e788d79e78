#if HTTP
internal import Waybill
internal import WaybillEventLoop

/// The statistics of a bus that the pages show.
///
/// All pages share the samples, so the sampling rate does not depend on the number of pages.
final class StatisticsBoard: Sendable {
    /// The statistics of a route at one moment.
    struct Row: Sendable, Equatable {
        let pattern: String
        let counts: BusStatistics
        /// The number of messages per second.
        let rate: Double
        /// The latencies of the messages since the observation of the bus began, in microseconds.
        let median: Int?
        let p99: Int?
        /// The number of messages in the mailbox, and the limit.
        let waiting: Int
        let limit: Int?
    }

    /// The statistics at one moment.
    struct Sample: Sendable {
        let number: Int
        let bus: BusStatistics
        let rows: [Row]
        let histogram: [(upper: Int, count: Int)]
        let loops: [(name: String, lag: Int)]
    }

    private struct State {
        var sample: Sample?
        var time = -Double.infinity
        /// The number of messages sent on each route, at several moments of the last seconds, in ascending
        /// order of time.
        var sent: [(time: Double, counts: [String: Int])] = []
    }

    private let bus: MessageBus
    private let recorder: Recorder
    private let lag: LoopLag
    private let state = Locked(State())

    /// How long a sample is used, and the period from which rates are calculated, in seconds.
    private static let (lifetime, span) = (0.25, 1.0)

    init(_ bus: MessageBus, _ recorder: Recorder) {
        self.bus = bus
        self.recorder = recorder
        self.lag = LoopLag(bus.eventLoops)
    }

    /// The current statistics, or a recent sample.
    var current: Sample {
        let now = self.recorder.seconds()
        let known = self.state.withLock { state -> Sample? in
            if let sample = state.sample, now - state.time < Self.lifetime { return sample }
            // While this call takes a new sample, other pages use the previous sample.
            state.time = now
            return nil
        }
        if let known { return known }
        self.recorder.update(self.bus)
        let routes = self.bus.routeStatistics
        let loads = Dictionary(self.bus.routeLoads.map { ($0.pattern, $0) }) {
            $0.waiting < $1.waiting ? $1 : $0
        }
        let (latency, latencies) = self.recorder.state.withLock { ($0.latency, $0.latencies) }
        let loops = self.lag.measure()
        let statistics = self.bus.statistics
        return self.state.withLock { state in
            let counts = Dictionary(routes.map { ($0.pattern, $0.counts.sent) }) { $0 + $1 }
            // The latest entry that is at least one period old. If there is none, the oldest entry.
            let base = state.sent.last { now - $0.time >= Self.span } ?? state.sent.first
            let rows = routes.map { route in
                let before = base?.counts[route.pattern]
                let rate = before.map {
                    Double(route.counts.sent - $0) / max(0.001, now - (base?.time ?? now))
                }
                return Row(
                    pattern: route.pattern,
                    counts: route.counts,
                    rate: max(0, ((rate ?? 0) * 10).rounded() / 10),
                    median: latencies[route.pattern]?.quantile(0.5),
                    p99: latencies[route.pattern]?.quantile(0.99),
                    waiting: loads[route.pattern]?.waiting ?? 0,
                    limit: loads[route.pattern]?.limit
                )
            }
            state.sent.append((now, counts))
            state.sent.removeAll { now - $0.time > 2 * Self.span }
            let sample = Sample(
                number: (state.sample?.number ?? 0) + 1,
                bus: statistics,
                rows: rows,
                histogram: latency.powersOfTwo,
                loops: loops
            )
            state.sample = sample
            return sample
        }
    }
}

/// Measures the lag of each loop: the time that work waits before the loop runs it.
///
/// Each measurement enqueues a closure on a loop. The next measurement returns the delay of this closure. If
/// the closure has not run yet, the delay is at least the age of the closure.
final class LoopLag: Sendable {
    private struct Probe {
        var sentAt: ContinuousClock.Instant?
        var lag = Duration.zero
    }

    private let loops: [EventLoop]
    private let probes: Locked<[Probe]>

    init(_ loops: [EventLoop]) {
        self.loops = loops
        self.probes = Locked(Array(repeating: Probe(), count: loops.count))
    }

    /// Returns the lag of each loop, in microseconds, and starts the next measurement.
    func measure() -> [(name: String, lag: Int)] {
        let now = ContinuousClock.now
        return self.loops.enumerated().map { index, loop in
            let (lag, isDue) = self.probes.withLock { probes in
                let sentAt = probes[index].sentAt
                if sentAt == nil { probes[index].sentAt = now }
                return (max(probes[index].lag, sentAt.map { now - $0 } ?? .zero), sentAt == nil)
            }
            if isDue { loop.execute { [weak self] in self?.note(index) } }
            return (loop.name, lag.microseconds)
        }
    }

    private func note(_ index: Int) {
        let now = ContinuousClock.now
        self.probes.withLock { probes in
            guard let sentAt = probes[index].sentAt else { return }
            probes[index] = Probe(sentAt: nil, lag: now - sentAt)
        }
    }
}
#endif
