/// A continuation that resumes its task directly on an event loop.
///
/// A continuation is awaited once and resumed once.
///
/// Swift resumes a continuation of the standard library on the default executor, even if the task belongs to
/// an actor with another executor. The default executor then enqueues the task on the actor's executor. An
/// actor of a loop would therefore switch threads twice, even if the loop itself resumes the task.
///
/// `withCheckedContinuation` also takes the caller's isolation as a parameter. In a `nonisolated(nonsending)`
/// function the default of that parameter is nil, so the task would leave the loop before it suspends.
package final class LoopContinuation<Value: Sendable>: Sendable {
    package let task: SuspendedTask
    /// Written before the task is resumed, and read only by the resumed task.
    private nonisolated(unsafe) var value: Value?

    /// Creates a continuation.
    ///
    /// - Parameter loop: The loop to resume on; nil for the default executor, from which the task returns to
    ///   its actor.
    package init(on loop: EventLoop?) { self.task = SuspendedTask(on: loop) }

    /// Returns the value that the task was resumed with, which the continuation holds no longer.
    ///
    /// A value that refers to the continuation would otherwise never be released.
    private func takeValue() -> Value {
        guard let value = unsafe self.value.take() else {
            preconditionFailure("internal error: a suspended task continued without being resumed")
        }
        return value
    }

    /// Suspends the calling task until the continuation is resumed; may be called once.
    ///
    /// - Returns: The value that the task was resumed with.
    package nonisolated(nonsending) func wait() async -> Value {
        await self.task.wait()
        return self.takeValue()
    }

    /// Suspends the task in the caller's isolation, and calls `onCancel` if the task is cancelled.
    ///
    /// - Parameters:
    ///   - isolation: The caller's isolation. A `nonisolated(nonsending)` function must pass it, because a
    ///     default would be nil.
    ///   - begin: A closure that is called first. After this call, any thread may resume the continuation.
    ///   - onCancel: A closure that is called when the task is cancelled, and that must cause a resumption.
    /// - Returns: The value that the task was resumed with.
    /// - Throws: The error of `begin`; the continuation must not be resumed after an error.
    package func wait(
        isolation: isolated (any Actor)?,
        _ begin: () throws -> Void,
        onCancel: @Sendable () -> Void
    ) async rethrows -> Value {
        try await self.task.wait(isolation: isolation, begin, onCancel: onCancel)
        return self.takeValue()
    }

    /// Resumes the task at once, or as soon as it waits; must be called once.
    package func resume(returning value: Value) {
        unsafe self.value = value
        self.task.resume()
    }
}
