#if HTTP
internal import WaybillEventLoop

/// Says of each call when it has taken so long that it has to be watched.
///
/// One task looks after all calls, while there are any: a timer for each would cost as much as the call.
final class GracePeriods: Sendable {
    private struct State {
        var periods: [Int: Period] = [:]
        var lastNumber = 0
        /// Whether the task runs.
        var isChecking = false
    }

    private struct Period {
        let end: ContinuousClock.Instant
        let isOver: @Sendable () -> Bool
    }

    private let length: Duration
    private let state = Locked(State())

    /// Makes periods of one length; their end may be seen as late again.
    init(_ length: Duration = .milliseconds(5)) { self.length = length }

    /// Begins a period.
    ///
    /// - Parameter isOver: runs when the time is over, and does what is to be done then; if it is false, it
    ///   runs again, until the period is ended.
    /// - Returns: the number by which it is ended.
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

    /// Ends a period; nothing happens if it is over.
    func end(_ number: Int) { self.state.withLock { $0.periods[number] = nil } }

    private func check() async {
        repeat { try? await Task.sleep(for: self.length) } while self.endWhatIsOver()
    }

    /// Whether there are others.
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
