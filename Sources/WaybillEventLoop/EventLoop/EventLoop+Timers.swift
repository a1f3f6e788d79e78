extension EventLoop {
    /// A clock whose sleepers wait on this loop's timer.
    public var clock: EventLoopClock { EventLoopClock(eventLoop: self) }

    /// What the loop's timers, and the buses on it, have the time from.
    package var time: TimeSource { self.core.configuration.time }

    /// Runs a closure on the loop at an instant, without a task.
    ///
    /// May be called from any thread; on the loop's own it takes no lock. The closure runs up to a millisecond late,
    /// never early, and not at all if the loop shuts down before. A timer does not keep its loop.
    ///
    /// - Parameters:
    ///   - deadline: When to run; in the past means in the loop's next turn.
    ///   - body: What to run on the loop's thread.
    /// - Returns: What cancels it; may be dropped.
    @discardableResult
    package func schedule(at deadline: Deadline, _ body: @escaping @Sendable () -> Void) -> ScheduledTimer {
        let timer = ScheduledTimer(core: self.core)
        self.core.schedule(timer, .body(body), at: deadline.nanoseconds)
        return timer
    }

    /// The same at an instant.
    @discardableResult
    package func schedule(
        at instant: ContinuousClock.Instant,
        _ body: @escaping @Sendable () -> Void
    ) -> ScheduledTimer {
        self.schedule(at: Deadline(instant), body)
    }

    /// Runs a closure on the loop at an instant, or when the loop shuts down if that comes first.
    ///
    /// For what must not be forgotten with the loop; everything else is as with ``schedule(at:_:)``.
    ///
    /// - Parameters:
    ///   - deadline: When to run; in the past means in the loop's next turn.
    ///   - body: What to run on the loop's thread; it is told why it runs.
    /// - Returns: What cancels it; may be dropped.
    @discardableResult
    package func schedule(
        at deadline: Deadline,
        orAtShutDown body: @escaping @Sendable (ScheduledTimer.Event) -> Void
    ) -> ScheduledTimer {
        let timer = ScheduledTimer(core: self.core)
        self.core.schedule(timer, .told(body), at: deadline.nanoseconds)
        return timer
    }
}
