#if HTTP
internal import Waybill
internal import WaybillEventLoop

/// The figures of a bus as pages show them, taken some times a second however many pages there are.
final class StatisticsBoard: Sendable {
    /// A route at one moment.
    struct Row: Sendable, Equatable {
        let pattern: String
        let counts: BusStatistics
        /// Messages a second.
        let rate: Double
        /// How long messages took since the bus is watched, in microseconds.
        let median: Int?
        let p99: Int?
        /// How many messages wait in the mailbox, and how many may.
        let waiting: Int
        let limit: Int?
    }

    /// All figures at one moment.
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
        /// The number of messages of each route at some times within the last seconds, oldest first.
        var sent: [(time: Double, counts: [String: Int])] = []
    }

    private let bus: MessageBus
    private let recorder: Recorder
    private let lag: LoopLag
    private let state = Locked(State())

    /// How long a sample is good for, and over how long rates are taken, in seconds.
    private static let (lifetime, span) = (0.25, 1.0)

    init(_ bus: MessageBus, _ recorder: Recorder) {
        self.bus = bus
        self.recorder = recorder
        self.lag = LoopLag(bus.eventLoops)
    }

    /// The present figures, which may be a moment old.
    var current: Sample {
        let now = self.recorder.seconds()
        let known = self.state.withLock { state -> Sample? in
            if let sample = state.sample, now - state.time < Self.lifetime { return sample }
            // Another page that asks meanwhile gets the sample before.
            state.time = now
            return nil
        }
        if let known { return known }
        self.recorder.catalog.update(self.bus)
        let routes = self.bus.routeStatistics
        let loads = Dictionary(self.bus.routeLoads.map { ($0.pattern, $0) }) {
            $0.waiting < $1.waiting ? $1 : $0
        }
        let (latency, latencies) = self.recorder.state.withLock { ($0.latency, $0.latencies) }
        let loops = self.lag.measure()
        let statistics = self.bus.statistics
        return self.state.withLock { state in
            let counts = Dictionary(routes.map { ($0.pattern, $0.counts.sent) }) { $0 + $1 }
            // The latest that is a whole span ago, or the oldest that there is.
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

/// How long work waits for each loop before it runs.
///
/// It is measured when it is asked for: a loop gets a closure, and the next question gets the answer. A loop
/// that has not run it yet is as late as the closure is old.
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

    /// The lag of each loop, in microseconds.
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
