/// A clock whose sleepers wait on an event loop's own timer.
///
/// Use it to sleep in code that runs on the loop: the sleeper is woken by the loop's thread, without a detour
/// through the global pool. Its instants are those of `ContinuousClock`, so a deadline travels between the
/// two. Sleeps end up to a millisecond late, never early, and last through a suspension of the machine.
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

    /// Suspends the caller until the deadline, from any context and where the caller is isolated.
    ///
    /// - Parameters:
    ///   - deadline: When to resume.
    ///   - tolerance: Not used; sleeps of one loop share one timer anyway.
    /// - Throws: `CancellationError` when the task is cancelled, and ``EventLoopError`` with the code
    ///   `shutDown` when the loop has shut down or does so meanwhile.
    public nonisolated(nonsending) func sleep(
        until deadline: Instant,
        tolerance: Duration? = nil
    ) async throws {
        await EventLoop.yieldIfDue()
        try Task.checkCancellation()
        defer { self.eventLoop.time.manual?.didResumeSleeper() }
        let core = self.eventLoop.core
        let timer = ScheduledTimer(core: core)
        let sleeper = TimerPayload.Sleeper(on: EventLoop.current, self.eventLoop.time)
        // As an argument the isolation is the caller's; as a default it would be nil.
        await sleeper.task.wait(isolation: #isolation) {
            core.schedule(timer, .sleeper(sleeper), at: MonotonicTime.nanoseconds(of: deadline))
        } onCancel: {
            timer.cancel()
        }
        if let error = sleeper.error { throw error }
    }

    /// Suspends the caller for a while, from any context and where the caller is isolated.
    ///
    /// The standard library's own way to say so would leave the loop first.
    ///
    /// - Parameters:
    ///   - duration: How long.
    ///   - tolerance: Not used; sleeps of one loop share one timer anyway.
    /// - Throws: What ``sleep(until:tolerance:)`` throws.
    public nonisolated(nonsending) func sleep(for duration: Duration, tolerance: Duration? = nil) async throws
    {
        try await self.sleep(until: self.now.advanced(by: duration))
    }
}
