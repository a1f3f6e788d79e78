internal import Synchronization

/// Where a loop, and a bus on it, have the time from: the system, or a test that advances it by hand.
@usableFromInline
package struct TimeSource: Sendable {
    /// The time that passes by itself.
    package static let system = Self(manual: nil)

    /// The time that is advanced by hand, if it is.
    package let manual: ManualTime?

    package init(manual: ManualTime?) { self.manual = manual }

    /// Nanoseconds as ``MonotonicTime`` counts them.
    var now: Int64 { self.manual?.now ?? MonotonicTime.now }

    /// The present instant.
    package var instant: ContinuousClock.Instant { self.manual?.instant ?? .now }
}

/// A time that stands still until it is advanced, and what waits for it.
///
/// Loops that are configured with it arm an alarm here instead of their libuv timer; what has no loop sets its alarms
/// itself. An alarm rings on the thread that advances the time, or at once on the thread that sets it too late.
package final class ManualTime: Sendable {
    private struct State {
        var now: Int64
        var heap = TimerHeap<@Sendable () -> Void>()
    }

    /// Something that waits for its time.
    package struct Alarm: Sendable {
        fileprivate let key: TimerHeap<@Sendable () -> Void>.Key
        fileprivate let time: ManualTime

        /// Forgets it; nothing happens if it has rung.
        package func cancel() { self.time.forget(self.key) }
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

    /// Whether everybody who was woken has gone on.
    package var areAllUp: Bool { self.waking.load(ordering: .acquiring) == 0 }

    /// Somebody who sleeps is being woken.
    package func isWaking() { self.waking.add(1, ordering: .acquiringAndReleasing) }

    /// Somebody who was woken goes on.
    package func goesOn() { self.waking.subtract(1, ordering: .acquiringAndReleasing) }

    /// Calls the closure when its time has come.
    @discardableResult
    package func schedule(at deadline: Deadline, _ body: @escaping @Sendable () -> Void) -> Alarm {
        let (key, due) = self.state.withLock { state in
            let key = state.heap.insert(body, at: deadline.nanoseconds)
            return (key, deadline.nanoseconds <= state.now ? state.heap.remove(key) : nil)
        }
        due?()
        return Alarm(key: key, time: self)
    }

    /// Goes on to the next alarm until a deadline, and rings all that are due then.
    ///
    /// - Returns: whether there was one; if not, the time stands at the deadline.
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

    private func forget(_ key: TimerHeap<@Sendable () -> Void>.Key) {
        let body = self.state.withLock { $0.heap.remove(key) }
        // Let go of outside the lock.
        _ = consume body
    }
}
