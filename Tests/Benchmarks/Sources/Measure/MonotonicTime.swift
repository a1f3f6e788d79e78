internal import CMeasure

/// Nanoseconds of a monotonic clock.
public enum MonotonicTime {
    /// The current time.
    public static var now: UInt64 { measure_now() }
}

/// Yields the core to another thread.
///
/// Suspending the task instead would measure the scheduler.
public func yieldCore() { measure_yield_core() }
