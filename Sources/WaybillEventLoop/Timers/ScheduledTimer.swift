internal import Synchronization

/// A closure that waits for its time on a loop; cancel it with ``cancel()``.
///
/// It may be dropped: the closure runs all the same.
package final class ScheduledTimer: Sendable {
    /// What becomes of a timer that is not cancelled.
    package enum Event: Sendable {
        /// Its time has come.
        case due
        /// Its loop shuts down first.
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

    /// Forgets the closure, unless it ran or runs already; from any thread, as often as wanted.
    ///
    /// On the loop's thread it is forgotten at once. From another thread it may still run until the loop has
    /// noticed.
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

/// What waits for a deadline.
///
/// Each payload is taken out of the heap once, and then meets exactly one of the three methods.
enum TimerPayload: Sendable {
    case body(@Sendable () -> Void)
    case told(@Sendable (ScheduledTimer.Event) -> Void)
    case sleeper(Sleeper)

    /// A task that waits.
    final class Sleeper: Sendable {
        let pause: Pause<Result<Void, any Error>>
        private let time: ManualTime?

        init(on loop: EventLoop?, _ time: TimeSource) {
            self.pause = Pause(on: loop)
            self.time = time.manual
        }

        func wake(_ result: Result<Void, any Error> = .success(())) {
            self.time?.isWaking()
            self.pause.resume(returning: result)
        }
    }

    /// The deadline has come.
    func fire() {
        switch self {
        case .body(let body): body()
        case .told(let body): body(.due)
        case .sleeper(let sleeper): sleeper.wake()
        }
    }

    /// The deadline will not come: the timer was cancelled.
    func cancel() {
        switch self {
        case .body, .told: break
        case .sleeper(let sleeper): sleeper.wake(.failure(CancellationError()))
        }
    }

    /// The deadline will not come: the loop shuts down.
    func abandon(by loop: LoopCore) {
        switch self {
        case .body: break
        case .told(let body): body(.shutDown)
        case .sleeper(let sleeper): sleeper.wake(.failure(EventLoopError.shutDown(loop.name)))
        }
    }
}
