public import WaybillEventLoop

/// A clock that stands still until a test advances it, and the time of the buses and loops made with it.
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
/// Deadlines of messages, timeouts of services, `TimeoutMiddleware`, `RetryMiddleware`, and the `clock` of a
/// loop go by it, and it is a `Clock` for code of your own. Its instants are those of `ContinuousClock` and
/// begin at the present one; since it stands still, write deadlines as `clock.now + ...` and not as
/// `.now + ...`. What passes by itself all the same: the time in which a bus shuts down, and what traces and
/// logs measure.
public final class ManualClock: Clock {
    /// An instant of `ContinuousClock`.
    public typealias Instant = ContinuousClock.Instant

    let time = ManualTime()
    private let loops = Locked<[WeakLoop]>([])

    private struct WeakLoop {
        weak var loop: EventLoop?
    }

    /// Makes a clock that stands at the present instant.
    public init() {}

    /// The instant at which the clock stands.
    public var now: Instant { self.time.instant }

    /// A nanosecond.
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// How much waits for the clock: deadlines, and sleepers; the timers of a loop are one.
    public var pending: Int { self.time.pending }

    /// A loop on a thread of its own whose timers go by the clock.
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

    /// Advances the clock, and returns when what it made due has been handled.
    ///
    /// It goes from one deadline to the next, in their order: what is due is called, and what that leads to
    /// is done, with new deadlines that are due as well, before the clock continues. So messages have expired
    /// and their handlers were cancelled, sleepers have continued, and the loops of the clock have nothing
    /// left to do. What happens elsewhere is not waited for: a task of a caller that got a failure may still
    /// have to handle it.
    ///
    /// - Parameter duration: by how much.
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
    /// - Parameter count: how many deadlines and sleepers, as ``pending`` counts them.
    /// - Returns: whether there are that many.
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
            // What was just run to wait for it counts as well.
            let isQuiet = after == before + loops.count && self.time.haveAllResumed
            quiet = isQuiet ? quiet + 1 : 0
        }
    }
}
