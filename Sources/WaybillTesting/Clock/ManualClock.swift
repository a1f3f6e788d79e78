public import WaybillEventLoop

/// A clock that a test advances, and that is the time of the buses and loops created with it.
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
/// Deadlines of messages, timeouts of services, `TimeoutMiddleware`, `RetryMiddleware` and the `clock` of a
/// loop use this time. Your own code can use it as a `Clock`. Its instants are instants of `ContinuousClock`,
/// and begin at the present. Write deadlines as `clock.now + ...` and not as `.now + ...`, because the clock
/// does not run. The shutdown of a bus, traces and logs use real time.
public final class ManualClock: Clock {
    /// An instant of `ContinuousClock`.
    public typealias Instant = ContinuousClock.Instant

    let time = ManualTime()
    private let loops = Locked<[WeakLoop]>([])

    private struct WeakLoop {
        weak var loop: EventLoop?
    }

    /// Creates a clock that stands at the present instant.
    public init() {}

    /// The instant at which the clock stands.
    public var now: Instant { self.time.instant }

    /// A nanosecond.
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// How much waits for the clock: deadlines, and sleepers; the timers of a loop are one.
    public var pending: Int { self.time.pending }

    /// Returns a loop on its own thread, whose timers use the clock.
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

    /// Advances the clock, and returns when all due work is done.
    ///
    /// The clock moves from one deadline to the next. At each deadline, the due work and its consequences are
    /// done before the clock continues, including new deadlines that are due. Messages have then expired,
    /// their handlers have been cancelled, sleeping tasks have continued, and the loops of the clock are
    /// idle. Work in other places may still be in progress, for example in the task of a caller that received
    /// a failure.
    ///
    /// - Parameter duration: The duration by which to advance the clock.
    @concurrent
    public func advance(by duration: Duration) async { await self.advance(to: self.now + duration) }

    /// Advances the clock to an instant, as ``advance(by:)`` does; it never goes back.
    @concurrent
    public func advance(to deadline: Instant) async {
        await self.settle()
        while self.time.ringNext(until: Deadline(deadline)) { await self.settle() }
    }

    /// Waits until something waits for the clock, as far as that comes in ten seconds of the system's time.
    ///
    /// - Parameter count: How many deadlines and sleepers, as ``pending`` counts them.
    /// - Returns: Whether there are that many.
    @discardableResult
    public func waitForPending(_ count: Int = 1) async -> Bool {
        for _ in 0..<10_000 where self.pending < count { try? await Task.sleep(for: .milliseconds(1)) }
        return self.pending >= count
    }

    /// Waits until the loops have nothing to do, and tasks elsewhere had a few turns.
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
            // The jobs that this function has just scheduled on the loops count as well.
            let isQuiet = after == before + loops.count && self.time.haveAllResumed
            quiet = isQuiet ? quiet + 1 : 0
        }
    }
}
