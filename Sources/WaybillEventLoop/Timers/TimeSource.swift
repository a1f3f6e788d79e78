internal import Synchronization

/// The source of the time for a loop and its buses.
///
/// The time is either the system's time or a test's time, which the test advances by hand.
@usableFromInline
package struct TimeSource: Sendable {
    /// The system's time.
    package static let system = Self(manual: nil)

    /// The time that is advanced by hand; nil for the system's time.
    package let manual: ManualTime?

    package init(manual: ManualTime?) { self.manual = manual }

    /// The current time in nanoseconds, on the scale of ``MonotonicTime``.
    package var now: Int64 { self.manual?.now ?? MonotonicTime.now }

    /// Returns the instant at a number of nanoseconds on the scale of ``MonotonicTime``.
    package func instant(at nanoseconds: Int64) -> ContinuousClock.Instant {
        MonotonicTime.instant(nanoseconds)
    }

    /// The current instant.
    package var instant: ContinuousClock.Instant { self.manual?.instant ?? .now }
}

/// A time that changes only when it is advanced, and the alarms that are set on it.
///
/// If a loop is configured with a `ManualTime`, the loop sets an alarm here instead of its libuv timer. Code
/// without a loop sets its alarms itself. An alarm runs on the thread that advances the time. If the deadline
/// of an alarm has already passed, the alarm runs at once on the thread that sets it.
package final class ManualTime: Sendable {
    private struct State {
        var now: Int64
        var heap = TimerHeap<@Sendable () -> Void>()
    }

    /// A closure that is called at a deadline of this time.
    package struct Alarm: Sendable {
        fileprivate let key: TimerHeap<@Sendable () -> Void>.Key
        fileprivate let time: ManualTime

        /// Removes the alarm; does nothing if it has run.
        package func cancel() { self.time.remove(self.key) }
    }

    private let state: Locked<State>
    private let waking = Atomic<Int>(0)

    /// Creates a time whose value is the current instant.
    package convenience init() { self.init(now: MonotonicTime.now) }

    /// Creates a time with a value in nanoseconds, on the scale of ``MonotonicTime``.
    package init(now: Int64) { self.state = Locked(State(now: now)) }

    /// The current value in nanoseconds, on the scale of ``MonotonicTime``.
    package var now: Int64 { self.state.withLock { $0.now } }

    /// The instant of the current value.
    package var instant: ContinuousClock.Instant { MonotonicTime.instant(self.now) }

    /// The number of alarms that have not run.
    package var pending: Int { self.state.withLock { $0.heap.count } }

    /// Whether every sleeper that was woken has resumed.
    package var haveAllResumed: Bool { self.waking.load(ordering: .acquiring) == 0 }

    /// Counts a sleeper that is being woken.
    package func willResumeSleeper() { self.waking.add(1, ordering: .acquiringAndReleasing) }

    /// Counts a woken sleeper that has resumed.
    package func didResumeSleeper() { self.waking.subtract(1, ordering: .acquiringAndReleasing) }

    /// Schedules a closure at a deadline; calls it at once if the deadline has passed.
    @discardableResult
    package func schedule(at deadline: Deadline, _ body: @escaping @Sendable () -> Void) -> Alarm {
        let (key, due) = self.state.withLock { state in
            let key = state.heap.insert(body, at: deadline.nanoseconds)
            return (key, deadline.nanoseconds <= state.now ? state.heap.remove(key) : nil)
        }
        due?()
        return Alarm(key: key, time: self)
    }

    /// Advances the time to the next alarm, but not beyond a deadline, and runs all alarms that are due then.
    ///
    /// - Returns: Whether an alarm was due. If the result is false, the time has advanced to the deadline.
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
        // Call the closures outside the lock, because they may set other alarms.
        while let body = self.state.withLock({ $0.heap.popDue(at: next) }) { body() }
        return true
    }

    private func remove(_ key: TimerHeap<@Sendable () -> Void>.Key) {
        _ = self.state.withLock { $0.heap.remove(key) }
    }
}
