/// Watches deadlines for threads that run no loop.
///
/// A timer that another thread schedules on a loop passes through the loop's inbox and wakes the loop. A
/// timekeeper instead adds the deadline to a heap under a lock. It wakes its loop only if the new deadline is
/// earlier than all other deadlines.
package final class Timekeeper: Sendable {
    private struct State {
        var heap = TimerHeap<@Sendable () -> Void>()
        /// The deadline for which the loop's timer is set.
        var wakes = Int64.max
        var timer: ScheduledTimer?
    }

    /// A deadline that is being watched.
    package struct Alarm: Sendable {
        fileprivate let key: TimerHeap<@Sendable () -> Void>.Key
        fileprivate let keeper: Timekeeper

        /// Removes the deadline; does nothing if it has passed.
        package func cancel() { self.keeper.remove(self.key) }
    }

    let eventLoop: EventLoop
    private let state = Locked(State())

    /// Creates a timekeeper with a new loop that runs on its own thread.
    package init(name: String) { self.eventLoop = EventLoop(name: name) }

    /// Schedules a closure to run at a deadline on the timekeeper's thread, up to a millisecond late and
    /// never early.
    ///
    /// - Returns: The alarm, which can be cancelled; dropping it does not cancel it.
    @discardableResult
    package func schedule(at deadline: Deadline, _ body: @escaping @Sendable () -> Void) -> Alarm {
        let (key, isFirst) = self.state.withLock { state in
            let key = state.heap.insert(body, at: deadline.nanoseconds)
            guard deadline.nanoseconds < state.wakes else { return (key, false) }
            state.wakes = deadline.nanoseconds
            return (key, true)
        }
        if isFirst { self.wake(at: deadline) }
        return Alarm(key: key, keeper: self)
    }

    private func wake(at deadline: Deadline) {
        let timer = self.eventLoop.schedule(at: deadline) { self.runDue() }
        let superfluous = self.state.withLock { state -> ScheduledTimer? in
            // Another thread may have set an earlier deadline since then, and sets a timer for it.
            guard state.wakes == deadline.nanoseconds else { return timer }
            defer { state.timer = timer }
            return state.timer
        }
        superfluous?.cancel()
    }

    private func runDue() {
        let now = MonotonicTime.now
        while let body = self.state.withLock({ $0.heap.popDue(at: now) }) { body() }
        // A closure may have set an earlier deadline, whose timer has not fired yet.
        let (next, old) = self.state.withLock { state in
            state.wakes = state.heap.nextDeadline ?? .max
            return (state.wakes, state.timer.take())
        }
        old?.cancel()
        if next != .max { self.wake(at: Deadline(nanoseconds: next)) }
    }

    private func remove(_ key: TimerHeap<@Sendable () -> Void>.Key) {
        _ = self.state.withLock { $0.heap.remove(key) }
    }
}
