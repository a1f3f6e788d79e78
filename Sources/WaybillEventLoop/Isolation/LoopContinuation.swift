internal import Synchronization

/// Makes a task wait on an event loop, once, and go straight on there when it is resumed.
///
/// A continuation of the standard library makes a detour: Swift resumes it on the default executor, whatever the actor,
/// and only from there the task goes on to the actor's. For an actor of a loop these are two changes of thread, even
/// where the loop itself resumes it.
///
/// Its ways to suspend also take the caller's isolation as a parameter, and in a `nonisolated(nonsending)` function the
/// default of that is nil: they would leave the loop before they begin.
///
/// So this is an actor that is its own executor. Calling it hands it the rest of the calling task as a job; it keeps
/// that until it is resumed, and then gives it to the loop.
package actor Pause<Value: Sendable>: SerialExecutor {
    private nonisolated let loop: EventLoop?
    /// Where the task goes on, if it has been resumed for another place than ``loop``.
    private nonisolated(unsafe) var isElsewhere = false
    /// Whether the task goes on within the call that resumes it.
    private nonisolated(unsafe) var isInPlace = false

    // Whoever comes first, the task with its job or somebody with the value, leaves it; whoever comes second finds both.
    private nonisolated let isOneThere = Atomic<Bool>(false)
    private nonisolated(unsafe) var job: UnownedJob?
    private nonisolated(unsafe) var value: Value?

    /// Prepares a pause.
    ///
    /// - Parameter loop: where the task waits; nil for the default executor, from where it goes on to wherever it belongs.
    package init(on loop: EventLoop?) { self.loop = loop }

    /// Waits until the task is resumed; may be called once.
    ///
    /// - Returns: what it was resumed with.
    package func wait() -> Value {
        guard let value = unsafe self.value else { preconditionFailure("a task went on by itself") }
        return value
    }

    /// Waits, where the caller is isolated, and is told when the task is cancelled.
    ///
    /// - Parameters:
    ///   - isolation: the caller's. A `nonisolated(nonsending)` function has to hand it over; a default would be nil there.
    ///   - begin: is called first; from now on somebody may resume the task.
    ///   - onCancel: is called when the task is cancelled, and has it resumed.
    /// - Returns: what it was resumed with.
    /// - Throws: what `begin` throws; then nobody may resume the task.
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

    /// Waits, where the caller is isolated, and then runs a closure where the task was resumed: on the loop, and not where
    /// the caller is.
    ///
    /// - Parameters:
    ///   - isolation: the caller's.
    ///   - begin: is called first; from now on the task may be resumed.
    ///   - onCancel: is called when the task is cancelled, and has it resumed.
    ///   - body: runs in the caller's task, on the thread that has resumed it.
    /// - Returns: what the closure returns.
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

    /// Has the task go on, now or as soon as it waits; must be called once.
    package nonisolated func resume(returning value: Value) {
        // Nobody reads it before the job runs.
        unsafe self.value = value
        if self.isSecond { self.goOn() }
    }

    /// Has the task go on away from its loop, which may not turn; must be called once.
    package nonisolated func resumeElsewhere(returning value: Value) {
        unsafe self.isElsewhere = true
        self.resume(returning: value)
    }

    /// Has the task go on within this call, if it waits already; must be called once, on the loop's thread, and not by code
    /// of a task.
    package nonisolated func resumeInPlace(returning value: Value) {
        unsafe self.isInPlace = true
        self.resume(returning: value)
    }

    /// Takes the rest of the waiting task; the runtime calls this.
    package nonisolated func enqueue(_ job: consuming ExecutorJob) {
        // Only the second to come reads it.
        unsafe self.job = UnownedJob(job)
        if self.isSecond { self.goOn() }
    }

    private nonisolated var isSecond: Bool {
        self.isOneThere.exchange(true, ordering: .acquiringAndReleasing)
    }

    private nonisolated func goOn() {
        guard let job = unsafe self.job else { preconditionFailure("a task was resumed twice") }
        unsafe self.job = nil
        if let loop, unsafe !self.isElsewhere {
            // As the loop's own: there is nothing in this actor that the loop's other jobs could get in the way of.
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
