internal import Synchronization

/// The time that a loop and a bus on it read: the system's, or a test's that is advanced by hand.
@usableFromInline
package struct TimeSource: Sendable {
    /// The time that passes by itself.
    package static let system = Self(manual: nil)

    /// The time that is advanced by hand, if it is.
    package let manual: ManualTime?

    package init(manual: ManualTime?) { self.manual = manual }

    /// Nanoseconds as ``MonotonicTime`` counts them.
    package var now: Int64 { self.manual?.now ?? MonotonicTime.now }

    /// The instant of such a count.
    package func instant(at nanoseconds: Int64) -> ContinuousClock.Instant {
        MonotonicTime.instant(nanoseconds)
    }

    /// The present instant.
    package var instant: ContinuousClock.Instant { self.manual?.instant ?? .now }
}

/// A time that stands still until it is advanced, and the alarms that are set on it.
///
/// Loops that are configured with it arm an alarm here instead of their libuv timer; code without a loop sets
/// its alarms itself. An alarm rings on the thread that advances the time, or at once on the thread that sets
/// it too late.
package final class ManualTime: Sendable {
    private struct State {
        var now: Int64
        var heap = TimerHeap<@Sendable () -> Void>()
    }

    /// A closure that is called at a deadline of this time.
    package struct Alarm: Sendable {
        fileprivate let key: TimerHeap<@Sendable () -> Void>.Key
        fileprivate let time: ManualTime

        /// Removes the alarm; does nothing if it has rung.
        package func cancel() { self.time.remove(self.key) }
    }

    private let state = Locked(State(now: MonotonicTime.now))
    private let waking = Atomic<Int>(0)

    /// A time that stands at the present instant.
    package init() {}

    var now: Int64 { self.state.withLock { $0.now } }

    /// The instant at which the time stands.
    package var instant: ContinuousClock.Instant { MonotonicTime.instant(self.now) }

    /// How many alarms wait.
    package var pending: Int { self.state.withLock { $0.heap.count } }

    /// Whether every sleeper that was woken has resumed.
    package var haveAllResumed: Bool { self.waking.load(ordering: .acquiring) == 0 }

    /// Counts a sleeper that is being woken.
    package func willResumeSleeper() { self.waking.add(1, ordering: .acquiringAndReleasing) }

    /// Counts a woken sleeper that has resumed.
    package func didResumeSleeper() { self.waking.subtract(1, ordering: .acquiringAndReleasing) }

    /// Calls a closure at a deadline; at once if that has passed.
    @discardableResult
    package func schedule(at deadline: Deadline, _ body: @escaping @Sendable () -> Void) -> Alarm {
        let (key, due) = self.state.withLock { state in
            let key = state.heap.insert(body, at: deadline.nanoseconds)
            return (key, deadline.nanoseconds <= state.now ? state.heap.remove(key) : nil)
        }
        due?()
        return Alarm(key: key, time: self)
    }

    /// Advances to the next alarm until a deadline, and rings all alarms that are due then.
    ///
    /// - Returns: Whether there was an alarm; if not, the time stands at the deadline.
    package func ringNext(until deadline: Deadline) -> Bool {
        let next = self.state.withLock { state -> Int64? in
            guard let next = state.heap.nextDeadline, next <= deadline.nanoseconds else {
                state.now = max(state.now, deadline.nanoseconds)
                return nil
            }
            state.now = max(state.now, next)
            return state.now
        }
        guard let next else { return false }
        // Called outside the lock: what rings may set another.
        while let body = self.state.withLock({ $0.heap.popDue(at: next) }) { body() }
        return true
    }

    private func remove(_ key: TimerHeap<@Sendable () -> Void>.Key) {
        let body = self.state.withLock { $0.heap.remove(key) }
        // Released outside of the lock.
        _ = consume body
    }
}
