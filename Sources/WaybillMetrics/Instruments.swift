#if Metrics
internal import Metrics
internal import WaybillEventLoop

/// The metrics of a bus.
///
/// Each metric is created when it is first needed.
final class Instruments: Sendable {
    private struct Key: Hashable {
        let route: String
        let outcome: String
    }

    private struct Pair: Sendable {
        let messages: Counter
        let duration: Timer
    }

    private let factory: any MetricsFactory
    private let prefix: String
    private let inFlight: Meter
    private let state = Locked(State())

    private struct State {
        var pairs: [Key: Pair] = [:]
    }

    init(factory: any MetricsFactory, prefix: String) {
        self.factory = factory
        self.prefix = prefix
        self.inFlight = Meter(label: "\(prefix)_messages_in_flight", factory: factory)
    }

    func begin() { self.inFlight.increment() }

    func end(_ route: String?, _ outcome: String, after duration: Duration) {
        self.inFlight.decrement()
        let pair = self.pair(Key(route: route ?? "", outcome: outcome))
        pair.messages.increment()
        pair.duration.recordNanoseconds(Int64(clamping: duration.attoseconds / 1_000_000_000))
    }

    private func pair(_ key: Key) -> Pair {
        self.state.withLock { state in
            if let pair = state.pairs[key] { return pair }
            let dimensions = [("route", key.route), ("outcome", key.outcome)]
            let pair = Pair(
                messages: Counter(
                    label: "\(self.prefix)_messages",
                    dimensions: dimensions,
                    factory: self.factory
                ),
                duration: Timer(
                    label: "\(self.prefix)_message_duration",
                    dimensions: dimensions,
                    factory: self.factory
                )
            )
            state.pairs[key] = pair
            return pair
        }
    }
}
#endif
