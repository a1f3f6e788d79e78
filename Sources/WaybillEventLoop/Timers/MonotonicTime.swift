// Defines `timespec` as well: the compiler takes it from either module.
internal import CLibUV

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// `ContinuousClock` in whole nanoseconds, as a loop's queues and timers count.
package enum MonotonicTime {
    private static let attosecondsPerNanosecond: UInt64 = 1_000_000_000

    /// Nanoseconds of now.
    package static var now: Int64 {
        #if os(Linux)
        // The clock that `ContinuousClock` reads on Linux, without the detour through 128-bit arithmetic.
        var time = timespec()
        unsafe clock_gettime(CLOCK_BOOTTIME, &time)
        return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
        #else
        return self.nanoseconds(of: .now)
        #endif
    }

    /// Nanoseconds of an instant, rounded up, so that nothing is due early; the far future is cut off at 292
    /// years.
    static func nanoseconds(of instant: ContinuousClock.Instant) -> Int64 {
        // An instant is the duration since the system's epoch, and nothing else; `systemEpoch` itself relies
        // on it.
        let attoseconds = unsafe unsafeBitCast(instant, to: Duration.self).attoseconds
        let (high, low) = (attoseconds >> 64, UInt64(truncatingIfNeeded: attoseconds))
        if high < 0 { return 0 }
        guard high < Int128(Self.attosecondsPerNanosecond / 2 - 1) else { return .max }
        // One machine instruction; the division of two 128-bit numbers costs more than the timer.
        let (quotient, remainder) = Self.attosecondsPerNanosecond
            .dividingFullWidth((UInt64(truncatingIfNeeded: high), low))
        return Int64(quotient) + (remainder > 0 ? 1 : 0)
    }

    /// Nanoseconds of a duration, rounded up; a negative one has none, and more than 292 years are cut off.
    static func nanoseconds(of duration: Duration) -> Int64 {
        guard duration > .zero else { return 0 }
        let (seconds, attoseconds) = duration.components
        guard seconds < .max / 1_000_000_000 else { return .max }
        let rest = (attoseconds + 999_999_999) / 1_000_000_000
        let (nanoseconds, overflows) = (seconds * 1_000_000_000).addingReportingOverflow(rest)
        return overflows ? .max : nanoseconds
    }

    /// The instant at a number of nanoseconds.
    static func instant(_ nanoseconds: Int64) -> ContinuousClock.Instant {
        // The other way round of the cast above.
        unsafe unsafeBitCast(Duration.nanoseconds(nanoseconds), to: ContinuousClock.Instant.self)
    }
}

extension Duration {
    /// Whole nanoseconds, cut off at 146 years so that sums of two do not overflow.
    var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = self.components
        let limit = Int64.max / 2 / 1_000_000_000
        return min(max(seconds, -limit), limit) * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
