#if HTTP
/// The durations of messages, in microseconds, as counts in buckets.
///
/// The bounds of a bucket differ by at most 7 %.
///
/// A histogram occupies two kilobytes, so that each of a thousand routes can have a histogram.
struct LatencyHistogram: Sendable, Equatable {
    /// The number of bits that select a bucket within a power of two, and the number of these buckets.
    private static let (bits, steps) = (4, 16)
    /// The number of powers of two.
    ///
    /// A duration of more than nine hours is counted in the last bucket.
    private static let powers = 32

    private var counts: [UInt32] = []
    private(set) var total = 0

    /// Counts a duration.
    mutating func add(_ duration: Duration) {
        if self.counts.isEmpty { self.counts = Array(repeating: 0, count: Self.powers * Self.steps) }
        self.counts[Self.index(of: duration.microseconds)] &+= 1
        self.total &+= 1
    }

    /// Returns the duration, in microseconds, that a share of the messages did not exceed; nil if no message
    /// has been counted.
    func quantile(_ share: Double) -> Int? {
        guard self.total > 0 else { return nil }
        let rank = max(1, Int((share * Double(self.total)).rounded(.up)))
        var sum = 0
        for (index, count) in self.counts.enumerated() {
            sum += Int(count)
            if sum >= rank { return Self.upperBound(of: index) }
        }
        return Self.upperBound(of: self.counts.count - 1)
    }

    /// The powers of two that have counts.
    ///
    /// `upper` is the longest duration of a power, in microseconds, and `count` is the number of its
    /// messages.
    var powersOfTwo: [(upper: Int, count: Int)] {
        stride(from: 0, to: self.counts.count, by: Self.steps).compactMap { start in
            let end = min(start + Self.steps, self.counts.count)
            let count = self.counts[start..<end].reduce(0) { $0 + Int($1) }
            return count == 0 ? nil : (Self.upperBound(of: end - 1), count)
        }
    }

    /// Returns the index of the bucket for a value.
    ///
    /// Each value below 16 has its own bucket. For a greater value, the highest five bits and their position
    /// determine the bucket.
    private static func index(of value: Int) -> Int {
        guard value >= Self.steps else { return max(0, value) }
        let power = Int.bitWidth - 1 - value.leadingZeroBitCount - Self.bits
        let index = (power + 1) << Self.bits + (value >> power) & (Self.steps - 1)
        return min(index, Self.powers * Self.steps - 1)
    }

    /// Returns the greatest value of a bucket.
    private static func upperBound(of index: Int) -> Int {
        guard index >= Self.steps else { return index }
        let power = index >> Self.bits - 1
        return (Self.steps + index & (Self.steps - 1) + 1) << power - 1
    }
}

extension Duration {
    /// The duration in whole microseconds.
    var microseconds: Int {
        let (seconds, attoseconds) = self.components
        return Int(clamping: seconds) &* 1_000_000 &+ Int(attoseconds / 1_000_000_000_000)
    }

    var seconds: Double {
        let (seconds, attoseconds) = self.components
        return Double(seconds) + Double(attoseconds) / 1e18
    }
}
#endif
