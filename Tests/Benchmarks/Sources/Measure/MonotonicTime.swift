internal import CMeasure

/// Nanoseconds of a clock that only goes forward.
public enum MonotonicTime {
    /// The time.
    public static var now: UInt64 { measure_now() }
}
