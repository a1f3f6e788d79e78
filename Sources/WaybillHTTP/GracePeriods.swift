#if HTTP
internal import WaybillEventLoop

/// The unwatched periods at the beginning of calls, and the actions at the ends of these periods.
///
/// See ``CallWatch``. One task serves all periods, because a timer for each call would cost as much as the
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

    /// Creates an object for periods of one length.
    ///
    /// The end of a period is detected with a delay of at most the same length.
    init(_ length: Duration = .milliseconds(5)) { self.length = length }

    /// Begins a period, and returns its number.
    ///
    /// `isOver` runs after the period and performs the action. If `isOver` returns false, it runs again
    /// later, unless the period has been ended.
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

    /// Ends a period without its action, unless the action has run.
    func end(_ number: Int) { self.state.withLock { $0.periods[number] = nil } }

    private func check() async {
        repeat { try? await Task.sleep(for: self.length) } while self.endWhatIsOver()
    }

    /// Runs the actions of the periods that have passed, and returns whether other periods remain.
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
