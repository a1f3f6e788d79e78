internal import CLibUV
internal import Synchronization

/// The rest of a task that waits: an actor that is its own executor.
///
/// A call of ``wait()`` hands it the rest of the calling task as a job; it keeps the job until it is resumed,
/// and then submits it to the loop.
///
/// It is not generic: another module would look its type up for each task that waits. A type that has more to
/// keep for such a task is an actor of its own, with a ``SuspendedJob``.
package actor SuspendedTask: SerialExecutor {
    private nonisolated let job: SuspendedJob

    /// Makes room for a task.
    ///
    /// - Parameter loop: The loop to resume on; nil for the default executor, from which the task returns to
    ///   its actor.
    package init(on loop: EventLoop?) { self.job = SuspendedJob(on: loop) }

    /// Suspends the calling task until it is resumed; may be called once.
    @inline(never)  // or the change of executor, which is all that this is for, might be optimized away
    package func wait() { self.job.checkResumption() }

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
    package nonisolated func resume() { self.job.resume(.onLoop) }

    /// Runs the task within this call, or resumes it as soon as it waits; must be called once.
    ///
    /// The caller is on the loop's thread, and is not code of a task.
    package nonisolated func resumeInPlace() { self.job.resume(.inPlace) }

    /// Resumes the task on the default executor, for a loop that may not be running; must be called once.
    package nonisolated func resumeElsewhere() { self.job.resume(.elsewhere) }

    /// Takes the rest of the waiting task; the runtime calls this.
    package nonisolated func enqueue(_ job: consuming ExecutorJob) { self.job.enqueue(job) }

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe UnownedSerialExecutor(ordinary: self)
    }
}

/// The job of a task that waits, for an actor that is its own executor.
///
/// Job and resumption come in either order; the call that brings the second of them submits the job. A task
/// that is resumed in place may come back as another job, since the code of a task that is isolated to the
/// actor begins and may end with a change to its executor: that job runs within the same call.
package struct SuspendedJob: ~Copyable, Sendable {
    /// How the task continues.
    package enum Resumption: UInt {
        /// As a job of the loop.
        case onLoop = 1
        /// Within the call that resumes it, if it waits already and that is on the loop's thread, and not in
        /// code of a task.
        case inPlace
        /// On the executor that it prefers, or the default one, for a loop that may not be running.
        case elsewhere
        /// In place, by a call that has not returned; only the job itself says so.
        case running
    }

    /// The loop to resume on, and what holds it.
    private let loop: Unretained<LoopCore>?
    private let held: EventLoop?
    /// Zero, then the address of the job or how the task is resumed, whichever comes first; in the end the
    /// latter.
    private let word = Atomic<UInt>(0)

    /// Makes room for a job.
    ///
    /// - Parameter loop: The loop to resume on; nil for the default executor, from which the task returns to
    ///   its actor.
    package init(on loop: EventLoop?) {
        self.loop = loop.map { Unretained($0.core) }
        self.held = loop
    }

    /// Resumes the task, now or as soon as it waits.
    ///
    /// The caller holds the actor until this returns.
    package borrowing func resume(_ resumption: Resumption) {
        let address = self.word.exchange(resumption.rawValue, ordering: .acquiringAndReleasing)
        guard address != 0 else { return }
        precondition(Resumption(rawValue: address) == nil, "a task was resumed twice")
        if resumption == .inPlace, self.run(address) { return }
        self.submit(address, resumption)
    }

    /// Takes the job of the task that waits; the runtime has the actor call this.
    package borrowing func enqueue(_ job: consuming ExecutorJob) {
        // An unowned job is the address of the job, and nothing else.
        let address = unsafe unsafeBitCast(UnownedJob(job), to: UInt.self)
        let word = self.word.exchange(address, ordering: .acquiringAndReleasing)
        guard word != 0 else { return }
        guard let resumption = Resumption(rawValue: word) else { preconditionFailure("a task waits twice") }
        // The call that has resumed the task finds the job.
        if resumption == .running { return }
        self.word.store(word, ordering: .relaxed)
        // Not in place: this is code of the task.
        self.submit(address, resumption == .inPlace ? .onLoop : resumption)
    }

    /// Whether the task has been resumed.
    package var isResumed: Bool { Resumption(rawValue: self.word.load(ordering: .relaxed)) != nil }

    /// Checks that the calling task was resumed before it continued.
    package borrowing func checkResumption() {
        precondition(self.isResumed, "a task continued without being resumed")
    }

    /// Runs a job here and now, and those as which the task comes back meanwhile.
    ///
    /// - Returns: Whether the calling thread is the loop's; if not, the job has not run.
    private borrowing func run(_ address: UInt) -> Bool {
        // The job holds the loop.
        guard let loop, unsafe loop.withUnsafeObject({ $0.isOnThread }) else { return false }
        var next = address
        repeat {
            self.word.store(Resumption.running.rawValue, ordering: .relaxed)
            let item = WorkItem(Self.job(next), as: .actorJob)
            unsafe loop.withUnsafeObject { $0.run(item) }
            next = self.word.exchange(Resumption.inPlace.rawValue, ordering: .acquiringAndReleasing)
        } while Resumption(rawValue: next) == nil
        return true
    }

    private borrowing func submit(_ address: UInt, _ resumption: Resumption) {
        let job = Self.job(address)
        guard let loop = self.loop, resumption != .elsewhere else {
            // The global executor would take it as well, but a task that prefers an executor would take that
            // for its own, and not return.
            return unsafe waybill_enqueue(unsafeBitCast(job, to: UnsafeMutableRawPointer.self))
        }
        // As a job of the loop: the actor has no other state that the loop's jobs could race with. The actor of
        // a task that waits is held by that task, and the job holds the loop.
        unsafe loop.withUnsafeObject { $0.submit(WorkItem(job, as: .actorJob)) }
    }

    /// The job at an address that ``enqueue(_:)`` has stored, and that has not run.
    private static func job(_ address: UInt) -> UnownedJob {
        // An unowned job is the address of the job, and nothing else.
        unsafe unsafeBitCast(address, to: UnownedJob.self)
    }
}
