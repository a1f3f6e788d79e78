internal import Synchronization

/// A continuation whose task is resumed on an event loop directly; each is waited on once and resumed once.
///
/// Swift resumes a continuation of the standard library on the default executor, whatever the actor, and only
/// from there the task is queued on the actor's executor. For an actor of a loop these are two changes of
/// thread, even where the loop itself resumes the task.
///
/// `withCheckedContinuation` also takes the caller's isolation as a parameter, whose default is nil in a
/// `nonisolated(nonsending)` function: the task would leave the loop before it suspends.
package final class LoopContinuation<Value: Sendable>: Sendable {
    package let task: SuspendedTask
    /// Written before the task is resumed, and read by the task.
    private nonisolated(unsafe) var value: Value?

    /// Creates a continuation.
    ///
    /// - Parameter loop: The loop to resume on; nil for the default executor, from which the task returns to
    ///   its actor.
    package init(on loop: EventLoop?) { self.task = SuspendedTask(on: loop) }

    /// The value that the task was resumed with.
    package var resumedValue: Value {
        guard let value = unsafe self.value else {
            preconditionFailure("a task continued without being resumed")
        }
        return value
    }

    /// Suspends the calling task until it is resumed; may be called once.
    ///
    /// - Returns: The value that it was resumed with.
    package nonisolated(nonsending) func wait() async -> Value {
        await self.task.wait()
        return self.resumedValue
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
        try await self.task.wait(isolation: isolation, begin, onCancel: onCancel)
        return self.resumedValue
    }

    /// Resumes the task, now or as soon as it waits; must be called once.
    package func resume(returning value: Value) {
        unsafe self.value = value
        self.task.resume()
    }

    /// Resumes the task on the default executor, for a loop that may not be running; must be called once.
    package func resumeElsewhere(returning value: Value) {
        unsafe self.value = value
        self.task.resumeElsewhere()
    }

    /// Resumes the task within this call, if it waits already; must be called once, on the loop's thread, and
    /// not by code of a task.
    package func resumeInPlace(returning value: Value) {
        unsafe self.value = value
        self.task.resumeInPlace()
    }
}

/// The rest of a task that waits: an actor that is its own executor.
///
/// A call of ``wait()`` hands it the rest of the calling task as a job; it keeps the job until it is resumed,
/// and then submits it to the loop. What an extension adds as an isolated function runs there as well, before
/// the task returns to its caller's isolation.
///
/// It is not generic: another module would look its type up for each task that waits.
package actor SuspendedTask: SerialExecutor {
    private nonisolated let loop: EventLoop?
    /// Whether the task continues on the default executor instead of ``loop``.
    private nonisolated(unsafe) var isElsewhere = false
    /// Whether the task continues within the call that resumes it.
    private nonisolated(unsafe) var isInPlace = false

    // Job and resumption arrive in either order; the call that brings the second of them submits the job.
    private nonisolated let hasFirstArrived = Atomic<Bool>(false)
    private nonisolated(unsafe) var job: UnownedJob?
    private nonisolated(unsafe) var isResumed = false

    /// Makes room for a task.
    ///
    /// - Parameter loop: The loop to resume on; nil for the default executor, from which the task returns to
    ///   its actor.
    package init(on loop: EventLoop?) { self.loop = loop }

    /// Suspends the calling task until it is resumed; may be called once.
    @inline(never)  // or the change of executor, which is all that this is for, might be optimized away
    package func wait() {
        precondition(unsafe self.isResumed, "a task continued without being resumed")
    }

    /// Suspends in the caller's isolation, and calls `onCancel` if the task is cancelled.
    ///
    /// - Parameters:
    ///   - isolation: The caller's isolation. A `nonisolated(nonsending)` function has to pass it; a default
    ///     would be nil.
    ///   - begin: Called first; from then on the task may be resumed.
    ///   - onCancel: Called when the task is cancelled; it must lead to a resumption.
    /// - Throws: The error of `begin`; then the task must not be resumed.
    package func wait(
        isolation: isolated (any Actor)?,
        _ begin: () throws -> Void,
        onCancel: @Sendable () -> Void
    ) async rethrows {
        try await withTaskCancellationHandler(
            operation: {
                // Captured, the parameter isolates the closure to the caller.
                _ = isolation
                try begin()
                await self.wait()
            },
            onCancel: onCancel
        )
    }

    /// Resumes the task, now or as soon as it waits; must be called once.
    package nonisolated func resume() {
        // Read by the job only, which is submitted after this.
        unsafe self.isResumed = true
        if self.arrivesSecond { self.continueTask() }
    }

    /// Resumes the task on the default executor, for a loop that may not be running; must be called once.
    package nonisolated func resumeElsewhere() {
        unsafe self.isElsewhere = true
        self.resume()
    }

    /// Resumes the task within this call, if it waits already; must be called once, on the loop's thread, and
    /// not by code of a task.
    package nonisolated func resumeInPlace() {
        unsafe self.isInPlace = true
        self.resume()
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
