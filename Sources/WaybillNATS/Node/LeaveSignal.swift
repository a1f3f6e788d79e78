internal import Synchronization
internal import WaybillEventLoop

/// A signal that resumes one task; if the signal fires before the task waits, the task continues at once.
final class LeaveSignal: Sendable {
    private enum State {
        case silent
        case waiting(CheckedContinuation<Void, Never>)
        case fired
    }

    private let state = Locked(State.silent)

    func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isFired = self.state.withLock { state in
                    if case .fired = state { return true }
                    state = .waiting(continuation)
                    return false
                }
                if isFired { continuation.resume() }
            }
        } onCancel: {
            self.fire()
        }
    }

    func fire() {
        let waiting = self.state.withLock { state in
            defer { state = .fired }
            if case .waiting(let continuation) = state { return continuation as CheckedContinuation? }
            return nil
        }
        waiting?.resume()
    }
}
