internal import WaybillEventLoop

/// A queue that admits one task at a time, in the order of arrival.
final class TurnQueue: Sendable {
    private typealias Waiter = LoopContinuation<Bool>

    private struct State {
        var isTaken = false
        var lastNumber = 0
        var waiting: [(number: Int, waiter: Waiter)] = []
    }

    private let state = Locked(State())

    /// Waits until no other task has the turn, and gives the turn to the calling task.
    ///
    /// After its work, the task must call ``end()``.
    nonisolated(nonsending) func begin() async throws(CancellationError) {
        let waiter = Waiter(on: .current)
        let number = self.state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        let isGranted = await waiter.wait(isolation: #isolation) {
            let answer = self.state.withLock { state -> Bool? in
                if Task.isCancelled { return false }
                guard state.isTaken else {
                    state.isTaken = true
                    return true
                }
                state.waiting.append((number, waiter))
                return nil
            }
            if let answer { waiter.resume(returning: answer) }
        } onCancel: {
            let waiter = self.state.withLock { state -> Waiter? in
                guard let index = state.waiting.firstIndex(where: { $0.number == number }) else { return nil }
                return state.waiting.remove(at: index).waiter
            }
            waiter?.resume(returning: false)
        }
        guard isGranted else { throw CancellationError() }
    }

    /// Ends the turn of the calling task, and gives the turn to the next task.
    func end() {
        let next = self.state.withLock { state -> Waiter? in
            state.isTaken = !state.waiting.isEmpty
            return state.waiting.isEmpty ? nil : state.waiting.removeFirst().waiter
        }
        next?.resume(returning: true)
    }
}
