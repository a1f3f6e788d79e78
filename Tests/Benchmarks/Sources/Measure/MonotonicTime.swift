internal import CMeasure

/// Nanoseconds of a clock that only goes forward.
public enum MonotonicTime {
    /// The time.
    public static var now: UInt64 { measure_now() }
}

/// Waits as a thread and not as a task, for who waits for another thread and would only measure the scheduler.
public func yieldCore() { measure_yield_core() }
