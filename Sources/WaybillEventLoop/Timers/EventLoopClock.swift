/// A clock whose sleepers wait on an event loop's own timer.
///
/// Use it to sleep in code that runs on the loop: the sleeper is woken by the loop's thread, without a detour through
/// the global pool. Its instants are those of `ContinuousClock`, so a deadline travels between the two. Sleeps end up
/// to a millisecond late, never early, and last through a suspension of the machine.
public struct EventLoopClock: Clock {
    /// An instant of `ContinuousClock`.
    public typealias Instant = ContinuousClock.Instant

    /// The loop whose timer is used; a clock keeps it alive.
    public let eventLoop: EventLoop

    init(eventLoop: EventLoop) {
        self.eventLoop = eventLoop
    }

    /// The present instant.
    public var now: Instant { self.eventLoop.time.instant }

    /// One millisecond: libuv counts no finer.
    public var minimumResolution: Duration { .milliseconds(1) }

    /// Suspends the caller until the deadline, from any context.
    ///
    /// - Parameters:
    ///   - deadline: When to go on.
    ///   - tolerance: Not used; sleeps of one loop share one timer anyway.
    /// - Throws: `CancellationError` when the task is cancelled, and ``EventLoopError`` with the code `shutDown` when
    ///   the loop has shut down or does so meanwhile.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try Task.checkCancellation()
        let core = self.eventLoop.core
        let timer = ScheduledTimer(core: core)
        let time = self.eventLoop.time
        defer { time.manual?.goesOn() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let payload = TimerPayload.sleeper(TimerPayload.Sleeper(continuation, time))
                core.schedule(timer, payload, at: MonotonicTime.nanoseconds(of: deadline))
            }
        } onCancel: {
            timer.cancel()
        }
    }
}
