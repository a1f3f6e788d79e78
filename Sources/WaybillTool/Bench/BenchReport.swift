#if Tool
internal import Foundation
internal import Histogram
internal import WaybillServe

/// The latencies of the calls that succeeded, and the number of calls that failed.
struct BenchReport {
    private static let percentiles = [
        ("p50", 50.0), ("p75", 75), ("p90", 90), ("p99", 99), ("p99.9", 99.9), ("max", 100),
    ]
    private static let barWidth = 40

    let inFlight: Int
    private(set) var failures = 0
    private(set) var firstFailure: RPCRequestError?
    /// The time from the first call to the last reply.
    var duration = Duration.zero
    /// The latencies in nanoseconds, to three significant digits, in a histogram of fixed size.
    private var histogram = Histogram<UInt64>(
        highestTrackableValue: 3_600_000_000_000,
        numberOfSignificantValueDigits: .three
    )

    init(inFlight: Int) { self.inFlight = inFlight }

    mutating func note(_ latency: Duration) {
        let nanoseconds = min(max(1, latency / .nanoseconds(1)), 3_600_000_000_000)
        self.histogram.record(UInt64(nanoseconds))
    }

    mutating func noteFailure(_ error: RPCRequestError) {
        self.failures += 1
        if self.firstFailure == nil { self.firstFailure = error }
    }

    var replies: Int { Int(self.histogram.totalCount) }

    /// The number of replies per second.
    var rate: Double { Double(self.replies) / max(self.duration / .seconds(1), 1e-9) }

    /// Returns the latency at a percentile, in microseconds.
    func microseconds(at percentile: Double) -> Double {
        Double(self.histogram.valueAtPercentile(percentile)) / 1000
    }

    /// The report as lines of text, for a person.
    var lines: [String] {
        let rate = String(format: "%.0f", self.rate)
        let calls = "\(self.replies) replies, \(self.failures) failures, \(self.inFlight) in flight"
        let longest = max(self.microseconds(at: 99.9), 0.001)
        return ["\(calls): \(rate) calls/s"]
            + Self.percentiles.map { name, percentile in
                let time = self.microseconds(at: percentile)
                let bar = String(repeating: "#", count: Int(min(1, time / longest) * Double(Self.barWidth)))
                return name.padding(toLength: 6, withPad: " ", startingAt: 0)
                    + String(format: "%10.1f us  ", time) + bar
            }
    }

    /// The report as JSON, for a program.
    var json: String {
        let times = Self.percentiles.map { name, percentile in
            "\"\(name)\":\(self.microseconds(at: percentile))"
        }
        let counts = "\"replies\":\(self.replies),\"failures\":\(self.failures),\"inFlight\":\(self.inFlight)"
        return "{\(counts),\"rate\":\(self.rate.rounded()),\(times.joined(separator: ","))}"
    }
}
#endif
