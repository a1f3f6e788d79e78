internal import Synchronization

/// A closure that a loop runs at a deadline; cancel it with ``cancel()``.
///
/// It may be dropped: the closure runs all the same.
package final class ScheduledTimer: Sendable {
    /// Why a timer that was not cancelled runs its closure.
    package enum Event: Sendable {
        /// Its deadline has come.
        case due
        /// Its loop shuts down before the deadline.
        case shutDown
    }

    private static let unscheduled: UInt64 = 0
    private static let cancelled: UInt64 = .max

    private let core: LoopCore
    /// The key in the loop's heap; written on the loop's thread only.
    private let key = Atomic<UInt64>(ScheduledTimer.unscheduled)

    init(core: LoopCore) {
        self.core = core
    }

    /// Removes the closure, unless it ran or runs already; from any thread, as often as wanted.
    ///
    /// On the loop's thread it is removed at once. From another thread it may still run until the loop has
    /// processed the cancellation.
    package func cancel() {
        guard !self.core.isOnThread else { return self.cancelOnLoop() }
        self.core.submit(WorkItem { self.cancelOnLoop() })
    }

    /// Puts the payload into the heap, on the loop's thread.
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
/// Each payload is removed from the heap once, and then exactly one of its three methods is called.
enum TimerPayload: Sendable {
    case body(@Sendable () -> Void)
    case observer(@Sendable (ScheduledTimer.Event) -> Void)
    case sleeper(Sleeper)

    /// A task that sleeps on the loop's clock.
    final class Sleeper: Sendable {
        let task: SuspendedTask
        private let time: ManualTime?
        /// Written before the task is resumed, and read by the task.
        private nonisolated(unsafe) var reason: (any Error)?

        init(on loop: EventLoop?, _ time: TimeSource) {
            self.task = SuspendedTask(on: loop)
            self.time = time.manual
        }

        /// Wakes the task, before its time if there is an error; called once.
        func wake(_ error: (any Error)? = nil) {
            self.time?.willResumeSleeper()
            unsafe self.reason = error
            self.task.resume()
        }

        /// Why the task was woken before its time, if it was; for the task.
        var error: (any Error)? { unsafe self.reason }
    }

    /// The deadline has come.
    func fire() {
        switch self {
        case .body(let body): body()
        case .observer(let body): body(.due)
        case .sleeper(let sleeper): sleeper.wake()
        }
    }

    /// The timer was cancelled before its deadline.
    func cancel() {
        switch self {
        case .body, .observer: break
        case .sleeper(let sleeper): sleeper.wake(CancellationError())
        }
    }

    /// The loop shuts down before the deadline.
    func abandon(by loop: LoopCore) {
        switch self {
        case .body: break
        case .observer(let body): body(.shutDown)
        case .sleeper(let sleeper): sleeper.wake(EventLoopError.shutDown(loop.name))
        }
    }
}
