internal import WaybillEventLoop

/// The reply that a caller on one node awaits from another node.
final class PendingReply: Sendable {
    private struct State {
        var result: Result<any Sendable, any Error>?
        var waiter: CheckedContinuation<any Sendable, any Error>?
        var onCancel: (@Sendable () -> Void)?
        var isCancelled = false
    }

    private let state = Locked(State())

    /// Waits for the reply in the isolation of the caller.
    ///
    /// A cancelled caller cancels the handler, and fails at once. The caller must pass its isolation: without
    /// it, the task would continue on the loop whose work resumes the task, and a crash would end this loop.
    func value(isolation: isolated (any Actor)?) async throws -> any Sendable {
        try await withTaskCancellationHandler(
            operation: {
                // The closure is isolated to the caller because it captures the parameter.
                _ = isolation
                return try await withCheckedThrowingContinuation(isolation: isolation) { waiter in
                    let result = self.state.withLock { state in
                        if state.result == nil { state.waiter = waiter }
                        return state.result
                    }
                    if let result { waiter.resume(with: result) }
                }
            },
            onCancel: { self.cancel() }
        )
    }

    /// Ends the wait with a result; only the first result has an effect.
    func resume(with result: Result<any Sendable, any Error>) {
        let waiter = self.state.withLock { state -> CheckedContinuation<any Sendable, any Error>? in
            guard state.result == nil else { return nil }
            state.result = result
            return state.waiter.take()
        }
        waiter?.resume(with: result)
    }

    /// Cancels the handler, and ends the caller's wait with an error.
    func cancel(with error: any Error = CancellationError()) {
        let onCancel = self.state.withLock { state in
            state.isCancelled = true
            return state.onCancel.take()
        }
        onCancel?()
        self.resume(with: .failure(error))
    }

    /// Sets the code that cancels the handler; runs it at once if the caller was cancelled before.
    func onCancel(_ body: @escaping @Sendable () -> Void) {
        let isCancelled = self.state.withLock { state in
            if !state.isCancelled { state.onCancel = body }
            return state.isCancelled
        }
        if isCancelled { body() }
    }
}
