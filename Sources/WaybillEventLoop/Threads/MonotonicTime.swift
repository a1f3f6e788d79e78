#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// `ContinuousClock` in whole nanoseconds, as a loop's queues and timers count.
enum MonotonicTime {
    /// Nanoseconds of now.
    static var now: Int64 {
        #if os(Linux)
        // The clock that `ContinuousClock` reads on Linux, without the detour through 128-bit arithmetic.
        var time = timespec()
        unsafe clock_gettime(CLOCK_BOOTTIME, &time)
        return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
        #else
        return self.nanoseconds(of: .now)
        #endif
    }

    /// Nanoseconds of an instant, rounded up, so that nothing is due early; the far future is cut off at 292 years.
    static func nanoseconds(of instant: ContinuousClock.Instant) -> Int64 {
        let (seconds, attoseconds) = ContinuousClock().systemEpoch.duration(to: instant).components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return seconds < 0 ? .min : .max }
        let (sum, carry) = whole.addingReportingOverflow((attoseconds + 999_999_999) / 1_000_000_000)
        return carry ? .max : sum
    }
}
