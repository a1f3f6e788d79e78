// `CLibUV` and the platform's module both define `timespec`. The compiler accepts the type from either
// module.
internal import CLibUV

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// The time of `ContinuousClock` in whole nanoseconds, the unit of a loop's queues and timers.
package enum MonotonicTime {
    private static let attosecondsPerNanosecond: UInt64 = 1_000_000_000

    /// The current time in nanoseconds.
    package static var now: Int64 {
        #if os(Linux)
        // `ContinuousClock` reads the same clock on Linux; this call avoids the 128-bit arithmetic of
        // `ContinuousClock`.
        var time = timespec()
        unsafe clock_gettime(CLOCK_BOOTTIME, &time)
        return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
        #else
        return self.nanoseconds(of: .now)
        #endif
    }

    /// Returns the nanoseconds of an instant.
    ///
    /// The result is rounded up, so that no timer is due early. The maximum is 292 years.
    static func nanoseconds(of instant: ContinuousClock.Instant) -> Int64 {
        // An instant contains only the duration since the system's epoch. The standard library's
        // `systemEpoch` relies on the same layout.
        let attoseconds = unsafe unsafeBitCast(instant, to: Duration.self).attoseconds
        let (high, low) = (attoseconds >> 64, UInt64(truncatingIfNeeded: attoseconds))
        if high < 0 { return 0 }
        guard high < Int128(Self.attosecondsPerNanosecond / 2 - 1) else { return .max }
        // This division is one machine instruction; a division of two 128-bit numbers costs more than the
        // timer.
        let (quotient, remainder) = Self.attosecondsPerNanosecond
            .dividingFullWidth((UInt64(truncatingIfNeeded: high), low))
        return Int64(quotient) + (remainder > 0 ? 1 : 0)
    }

    /// Returns the nanoseconds of a duration, rounded up; zero if the duration is negative, and at most 292
    /// years.
    static func nanoseconds(of duration: Duration) -> Int64 {
        guard duration > .zero else { return 0 }
        // The components of a longer duration would not fit into 64 bits.
        guard duration < .seconds(Int64.max / 1_000_000_000) else { return .max }
        let (seconds, attoseconds) = duration.components
        let rest = (attoseconds + 999_999_999) / 1_000_000_000
        let (nanoseconds, overflows) = (seconds * 1_000_000_000).addingReportingOverflow(rest)
        return overflows ? .max : nanoseconds
    }

    /// Returns the instant at a number of nanoseconds.
    static func instant(_ nanoseconds: Int64) -> ContinuousClock.Instant {
        // This cast is the inverse of the cast in `nanoseconds(of:)`.
        unsafe unsafeBitCast(Duration.nanoseconds(nanoseconds), to: ContinuousClock.Instant.self)
    }
}

extension Duration {
    /// The whole nanoseconds of the duration.
    ///
    /// The result is limited to 146 years, so that the sum of two results does not overflow.
    var wholeNanoseconds: Int64 {
        let limit = Duration.seconds(Int64.max / 2 / 1_000_000_000)
        let (seconds, attoseconds) = min(max(self, .zero - limit), limit).components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
