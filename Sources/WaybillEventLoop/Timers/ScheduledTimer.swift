internal import Synchronization

/// A closure that a loop runs at a deadline.
///
/// Cancel the closure with ``cancel()``. Dropping the timer does not cancel the closure.
package final class ScheduledTimer: Sendable {
    /// The reason why a timer calls its closure.
    package enum Event: Sendable {
        /// The deadline has come.
        case due
        /// The loop shuts down before the deadline.
        case shutDown
    }

    private static let unscheduled: UInt64 = 0
    private static let cancelled: UInt64 = .max

    private let core: LoopCore
    /// The key in the loop's heap; only the loop's thread writes it.
    private let key = Atomic<UInt64>(ScheduledTimer.unscheduled)

    init(core: LoopCore) {
        self.core = core
    }

    /// Removes the closure unless it has started; may be called from any thread and more than once.
    ///
    /// On the loop's thread the closure is removed at once. If the call comes from another thread, the
    /// closure may still run until the loop has processed the cancellation.
    package func cancel() {
        guard !self.core.isOnThread else { return self.cancelOnLoop() }
        self.core.submit(WorkItem { self.cancelOnLoop() })
    }

    /// Inserts the payload into the heap, on the loop's thread.
    func start(_ payload: TimerPayload, at deadline: Int64) {
        if self.key.load(ordering: .relaxed) == Self.cancelled {
            return payload.cancel()
        }
        guard let key = self.core.insertTimer(payload, at: deadline) else {
            return payload.abandon(by: self.core)
        }
        self.key.store(key.bits, ordering: .relaxed)
    }

    private func cancelOnLoop() {
        let bits = self.key.exchange(Self.cancelled, ordering: .relaxed)
        guard bits != Self.unscheduled, bits != Self.cancelled else { return }
        self.core.removeTimer(TimerHeap<TimerPayload>.Key(bits: bits))?.cancel()
    }
}

/// The action of a timer.
///
/// Each payload is removed from the heap once. Then exactly one of its methods `fire`, `cancel` and `abandon`
/// is called.
enum TimerPayload: Sendable {
    case body(@Sendable () -> Void)
    case observer(@Sendable (ScheduledTimer.Event) -> Void)
    case sleeper(Sleeper)

    /// A task that sleeps on the loop's clock.
    final class Sleeper: Sendable {
        let task: SuspendedTask
        private let time: ManualTime?
        /// The reason is written before the task is resumed, and only the resumed task reads it.
        private nonisolated(unsafe) var reason: (any Error)?

        init(on loop: EventLoop?, _ time: TimeSource) {
            self.task = SuspendedTask(on: loop)
            self.time = time.manual
        }

        /// Resumes the task, before its deadline if there is an error; called once.
        func wake(_ error: (any Error)? = nil) {
            self.time?.willResumeSleeper()
            unsafe self.reason = error
            self.task.resume()
        }

        /// The reason why the task was resumed before the deadline, or nil; only the task may read it.
        var error: (any Error)? { unsafe self.reason }
    }

    /// Runs the action because the deadline has come.
    func fire() {
        switch self {
        case .body(let body): body()
        case .observer(let body): body(.due)
        case .sleeper(let sleeper): sleeper.wake()
        }
    }

    /// Ends the action because the timer was cancelled before its deadline.
    func cancel() {
        switch self {
        case .body, .observer: break
        case .sleeper(let sleeper): sleeper.wake(CancellationError())
        }
    }

    /// Ends the action because the loop shuts down before the deadline.
    func abandon(by loop: LoopCore) {
        switch self {
        case .body: break
        case .observer(let body): body(.shutDown)
        case .sleeper(let sleeper): sleeper.wake(EventLoopError.shutDown(loop.name))
        }
    }
}
