public import WaybillEventLoop

/// A clock that moves only when a test advances it.
///
/// The clock sets the time of the buses and loops that a test creates with it.
///
/// ```swift
/// let clock = ManualClock()
/// let bus = MessageBus(clock: clock)
/// let stub = try bus.stub("app://user/detail", .never)
/// async let reply = bus.route("app://user/detail", deadline: clock.now + .seconds(5))
/// await stub.called()
/// await clock.advance(by: .seconds(5))      // the reply has failed with `deadlineExceeded`
/// ```
///
/// The clock determines the deadlines of messages, the timeouts of services, `TimeoutMiddleware`,
/// `RetryMiddleware`, the time limit for the shutdown of a bus, the times in traces, and the `clock` of a
/// loop. `ManualClock` is also a `Clock` for your own code. The clock's instants are instants of
/// `ContinuousClock`, and the clock begins at the current instant. Because the clock does not move by itself,
/// write deadlines as `clock.now + ...` and not as `.now + ...`.
public final class ManualClock: Clock {
    /// An instant of `ContinuousClock`.
    public typealias Instant = ContinuousClock.Instant

    let time = ManualTime()
    private let loops = Locked<[WeakLoop]>([])

    private struct WeakLoop {
        weak var loop: EventLoop?
    }

    /// Creates a clock whose time is the current instant.
    public init() {}

    /// The current instant of the clock.
    public var now: Instant { self.time.instant }

    /// One nanosecond.
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// The number of deadlines and sleeping tasks that wait for the clock.
    ///
    /// All timers of one loop count as one deadline.
    public var pending: Int { self.time.pending }

    /// Creates a loop on its own thread, whose timers use this clock.
    public func makeEventLoop(
        name: String? = nil,
        configuration: EventLoop.Configuration = .init()
    ) -> EventLoop {
        var configuration = configuration
        configuration.time = TimeSource(manual: self.time)
        let loop = EventLoop(name: name, configuration: configuration)
        self.loops.withLock { loops in
            loops.removeAll { $0.loop == nil }
            loops.append(WeakLoop(loop: loop))
        }
        return loop
    }

    /// Suspends the caller until the clock has been advanced to a deadline.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try Task.checkCancellation()
        let sleeper = Sleeper(self.time)
        let alarm = self.time.schedule(at: Deadline(deadline)) { sleeper.wake() }
        await withTaskCancellationHandler {
            await sleeper.sleep()
        } onCancel: {
            alarm.cancel()
            sleeper.wake()
        }
        try Task.checkCancellation()
    }

    /// Advances the clock, and returns when all work that became due is done.
    ///
    /// The clock moves from one deadline to the next, in their order. At each deadline, the clock waits until
    /// the code for this deadline has run, and the code for new deadlines that are already due. When the
    /// method returns, messages have expired, their handlers have been cancelled, and sleeping tasks have
    /// continued. The loops of the clock have no work left. The method does not wait for other executors: a
    /// task that received a failure may still be handling it.
    ///
    /// - Parameter duration: The time to advance the clock by.
    @concurrent
    public func advance(by duration: Duration) async { await self.advance(to: self.now + duration) }

    /// Advances the clock to an instant, in the same way as ``advance(by:)``.
    ///
    /// If the instant has already passed, the clock does not move.
    @concurrent
    public func advance(to deadline: Instant) async {
        await self.settle()
        while self.time.ringNext(until: Deadline(deadline)) { await self.settle() }
    }

    /// Waits until enough deadlines and sleeping tasks wait for the clock, for at most some ten seconds of
    /// real time.
    ///
    /// - Parameter count: The number of deadlines and sleeping tasks, counted as in ``pending``.
    /// - Returns: Whether the number was reached within this time.
    @discardableResult
    public func waitForPending(_ count: Int = 1) async -> Bool {
        for _ in 0..<10_000 where self.pending < count { try? await Task.sleep(for: .milliseconds(1)) }
        return self.pending >= count
    }

    /// Waits until the loops have no work, and tasks on other executors have had a few chances to run.
    private func settle() async {
        var quiet = 0
        for _ in 0..<10_000 where quiet < 3 {
            let loops = self.loops.withLock { $0.compactMap(\.loop) }.filter { !$0.isShutDown }
            let before = loops.reduce(0) { $0 + $1.statistics.jobsRun }
            for loop in loops {
                await withCheckedContinuation { waiter in loop.execute { waiter.resume() } }
            }
            for _ in 0..<10 { await Task.yield() }
            let after = loops.reduce(0) { $0 + $1.statistics.jobsRun }
            // The jobs that this method itself has run are subtracted.
            let isQuiet = after == before + loops.count && self.time.haveAllResumed
            quiet = isQuiet ? quiet + 1 : 0
        }
    }
}
