#if Durable
internal import WaybillJSON

/// The clock of a store, in milliseconds since 1970.
///
/// The clock follows the wall clock, so that the delay of a message also passes while the process does not
/// run. The clock never goes back: when the wall clock is set back, the store's clock continues with the
/// speed of the monotonic clock.
struct StoreClock {
    private var last: Int
    private var lastInstant = ContinuousClock.now

    /// Creates a clock that does not begin before a time.
    init(notBefore earliest: Int) { self.last = max(earliest, Self.wallTime) }

    mutating func now() -> Int {
        let instant = ContinuousClock.now
        let elapsed = Self.milliseconds(self.lastInstant.duration(to: instant))
        // Add only whole milliseconds. Otherwise, frequent calls would lose fractions and stop the clock.
        self.lastInstant += .milliseconds(elapsed)
        self.last = max(self.last + elapsed, Self.wallTime)
        return self.last
    }

    static var wallTime: Int { Int(Timestamp.now * 1_000) }

    /// Returns the time after a delay; a negative delay counts as zero.
    static func adding(_ delay: Duration, to time: Int) -> Int { time + Self.milliseconds(delay) }

    /// Returns the whole milliseconds of a duration, from 0 to 2^52 so that sums with times do not overflow.
    static func milliseconds(_ duration: Duration) -> Int {
        Int(min(max(0, duration / .milliseconds(1)), 0x1p52))
    }
}
#endif
