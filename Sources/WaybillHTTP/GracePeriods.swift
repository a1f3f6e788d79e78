#if HTTP
internal import WaybillEventLoop

/// The periods during which calls are not watched, and the actions at their ends.
///
/// One task serves all periods while there are any, because a timer for each call would cost as much as the
/// call.
final class GracePeriods: Sendable {
    private struct State {
        var periods: [Int: Period] = [:]
        var lastNumber = 0
        /// Whether the task is running.
        var isChecking = false
    }

    private struct Period {
        let end: ContinuousClock.Instant
        let isOver: @Sendable () -> Bool
    }

    private let length: Duration
    private let state = Locked(State())

    /// Creates periods of one length.
    ///
    /// The end of a period may be detected up to the same time later.
    init(_ length: Duration = .milliseconds(5)) { self.length = length }

    /// Begins a period.
    ///
    /// - Parameter isOver: A closure that runs after the period and performs its action. If it returns false,
    ///   it runs again later, unless the period has been ended.
    /// - Returns: The number that identifies the period.
    func begin(_ isOver: @escaping @Sendable () -> Bool) -> Int {
        let period = Period(end: .now + self.length, isOver: isOver)
        let (number, starts) = self.state.withLock { state in
            state.lastNumber += 1
            state.periods[state.lastNumber] = period
            defer { state.isChecking = true }
            return (state.lastNumber, !state.isChecking)
        }
        if starts { Task { await self.check() } }
        return number
    }

    /// Ends a period without its action.
    ///
    /// Does nothing if the action has been performed.
    func end(_ number: Int) { self.state.withLock { $0.periods[number] = nil } }

    private func check() async {
        repeat { try? await Task.sleep(for: self.length) } while self.endWhatIsOver()
    }

    /// Runs the actions of overdue periods.
    ///
    /// Returns whether any periods remain.
    private func endWhatIsOver() -> Bool {
        let now = ContinuousClock.now
        let due = self.state.withLock { state in state.periods.filter { $0.value.end <= now } }
        let over = due.filter { $0.value.isOver() }.keys
        return self.state.withLock { state in
            for number in over { state.periods[number] = nil }
            state.isChecking = !state.periods.isEmpty
            return state.isChecking
        }
    }
}
#endif
