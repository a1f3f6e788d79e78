internal import Synchronization

/// A continuation whose task is resumed on an event loop directly; each is waited on once and resumed once.
///
/// Swift resumes a continuation of the standard library on the default executor, whatever the actor, and only
/// from there the task is queued on the actor's executor. For an actor of a loop these are two changes of
/// thread, even where the loop itself resumes the task.
///
/// `withCheckedContinuation` also takes the caller's isolation as a parameter, whose default is nil in a
/// `nonisolated(nonsending)` function: the task would leave the loop before it suspends.
///
/// So this type is an actor that is its own executor. A call of ``wait()`` hands it the rest of the calling
/// task as a job; it keeps the job until it is resumed, and then submits it to the loop.
package actor LoopContinuation<Value: Sendable>: SerialExecutor {
    private nonisolated let loop: EventLoop?
    /// Whether the task continues on the default executor instead of ``loop``.
    private nonisolated(unsafe) var isElsewhere = false
    /// Whether the task continues within the call that resumes it.
    private nonisolated(unsafe) var isInPlace = false

    // The job and the value arrive in either order; the call that brings the second of them submits the job.
    private nonisolated let hasFirstArrived = Atomic<Bool>(false)
    private nonisolated(unsafe) var job: UnownedJob?
    private nonisolated(unsafe) var value: Value?

    /// Creates a continuation.
    ///
    /// - Parameter loop: The loop to resume on; nil for the default executor, from which the task returns to
    ///   its actor.
    package init(on loop: EventLoop?) { self.loop = loop }

    /// Suspends the calling task until it is resumed; may be called once.
    ///
    /// - Returns: The value that it was resumed with.
    package func wait() -> Value {
        guard let value = unsafe self.value else {
            preconditionFailure("a task continued without being resumed")
        }
        return value
    }

    /// Suspends in the caller's isolation, and calls `onCancel` if the task is cancelled.
    ///
    /// - Parameters:
    ///   - isolation: The caller's isolation. A `nonisolated(nonsending)` function has to pass it; a default
    ///     would be nil.
    ///   - begin: Called first; from then on the continuation may be resumed.
    ///   - onCancel: Called when the task is cancelled; it must lead to a resumption.
    /// - Returns: The value that the task was resumed with.
    /// - Throws: The error of `begin`; then the continuation must not be resumed.
    package func wait(
        isolation: isolated (any Actor)?,
        _ begin: () throws -> Void,
        onCancel: @Sendable () -> Void
    ) async rethrows -> Value {
        try await withTaskCancellationHandler(
            operation: {
                // Captured, the parameter isolates the closure to the caller.
                _ = isolation
                try begin()
                return await self.wait()
            },
            onCancel: onCancel
        )
    }

    /// Suspends in the caller's isolation, and then runs a closure on the thread that resumed the task,
    /// before the task returns to that isolation.
    ///
    /// - Parameters:
    ///   - isolation: The caller's isolation.
    ///   - begin: Called first; from then on the continuation may be resumed.
    ///   - onCancel: Called when the task is cancelled; it must lead to a resumption.
    ///   - body: Runs in the caller's task, on the thread that has resumed it.
    /// - Returns: The result of `body`.
    package func wait<Result: Sendable>(
        isolation: isolated (any Actor)?,
        _ begin: () -> Void,
        onCancel: @Sendable () -> Void,
        then body: @Sendable (Value) -> Result
    ) async -> Result {
        await withTaskCancellationHandler(
            operation: {
                // Captured, the parameter isolates the closure to the caller.
                _ = isolation
                begin()
                return await self.wait(then: body)
            },
            onCancel: onCancel
        )
    }

    private func wait<Result: Sendable>(then body: @Sendable (Value) -> Result) -> Result {
        body(self.wait())
    }

    /// Resumes the task, now or as soon as it waits; must be called once.
    package nonisolated func resume(returning value: Value) {
        // Read by the job only, which is submitted after this.
        unsafe self.value = value
        if self.arrivesSecond { self.continueTask() }
    }

    /// Resumes the task on the default executor, for a loop that may not be running; must be called once.
    package nonisolated func resumeElsewhere(returning value: Value) {
        unsafe self.isElsewhere = true
        self.resume(returning: value)
    }

    /// Resumes the task within this call, if it waits already; must be called once, on the loop's thread, and
    /// not by code of a task.
    package nonisolated func resumeInPlace(returning value: Value) {
        unsafe self.isInPlace = true
        self.resume(returning: value)
    }

    /// Takes the rest of the waiting task; the runtime calls this.
    package nonisolated func enqueue(_ job: consuming ExecutorJob) {
        // Read by the second arrival only, through the exchange below.
        unsafe self.job = UnownedJob(job)
        if self.arrivesSecond { self.continueTask() }
    }

    private nonisolated var arrivesSecond: Bool {
        self.hasFirstArrived.exchange(true, ordering: .acquiringAndReleasing)
    }

    private nonisolated func continueTask() {
        guard let job = unsafe self.job else { preconditionFailure("a task was resumed twice") }
        unsafe self.job = nil
        if let loop, unsafe !self.isElsewhere {
            // As a job of the loop: the actor has no other state that the loop's jobs could race with.
            let item = WorkItem(job, as: .actorJob)
            if unsafe self.isInPlace, loop.core.isOnThread {
                unsafe self.isInPlace = false
                loop.core.run(item)
            } else {
                loop.core.submit(item)
            }
        } else {
            globalConcurrentExecutor.enqueue(ExecutorJob(job))
        }
    }

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe UnownedSerialExecutor(ordinary: self)
    }
}
