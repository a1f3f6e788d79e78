/// A clock that lets tasks sleep on the timer of an event loop.
///
/// Use this clock to sleep in code that runs on the loop. The loop's thread resumes the task directly, and
/// the task does not pass through the global pool. The instants of this clock are `ContinuousClock` instants,
/// so a deadline is valid for both clocks. A sleep ends up to a millisecond late and never early. Time in
/// which the machine is suspended counts, but after such a time a sleep on an idle loop ends up to a minute
/// late.
public struct EventLoopClock: Clock {
    /// An instant of `ContinuousClock`.
    public typealias Instant = ContinuousClock.Instant

    /// The loop whose timer is used; the clock keeps it alive.
    public let eventLoop: EventLoop

    init(eventLoop: EventLoop) {
        self.eventLoop = eventLoop
    }

    /// The current instant.
    public var now: Instant { self.eventLoop.time.instant }

    /// One millisecond, the resolution of libuv's timers.
    public var minimumResolution: Duration { .milliseconds(1) }

    /// Suspends the caller until a deadline, in the caller's isolation; may be called from any context.
    ///
    /// - Parameters:
    ///   - deadline: The time to resume.
    ///   - tolerance: Ignored; all sleeps on one loop share one timer.
    /// - Throws: `CancellationError` when the task is cancelled, or ``EventLoopError`` with the code
    ///   `shutDown` if the loop has shut down or shuts down during the sleep.
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
        // Pass the caller's isolation as an argument; the default would be nil.
        await sleeper.task.wait(isolation: #isolation) {
            core.schedule(timer, .sleeper(sleeper), at: MonotonicTime.nanoseconds(of: deadline))
        } onCancel: {
            timer.cancel()
        }
        if let error = sleeper.error { throw error }
    }

    /// Suspends the caller for a duration, in the caller's isolation; may be called from any context.
    ///
    /// The `sleep(for:)` of the standard library would leave the loop before it sleeps, so this type has its
    /// own method.
    ///
    /// - Parameters:
    ///   - duration: The time to sleep.
    ///   - tolerance: Ignored; all sleeps on one loop share one timer.
    /// - Throws: The errors of ``sleep(until:tolerance:)``.
    public nonisolated(nonsending) func sleep(for duration: Duration, tolerance: Duration? = nil) async throws
    {
        try await self.sleep(until: self.now.advanced(by: duration))
    }
}
