internal import CLibUV
internal import Synchronization

/// A waiting task, represented by an actor that is its own executor.
///
/// ``wait()`` runs on this executor, so the runtime enqueues the rest of the calling task here as a job. The
/// actor keeps the job until the task is resumed, and then submits it to the loop.
///
/// The type is not generic, because another module would look up its metadata for each waiting task. A type
/// that must store more for its waiting task is a separate actor with a ``SuspendedJob``.
package actor SuspendedTask: SerialExecutor {
    private nonisolated let job: SuspendedJob

    /// Creates an actor for one task.
    ///
    /// - Parameter loop: The loop to resume on; nil for the default executor, from which the task returns to
    ///   its actor.
    package init(on loop: EventLoop?) { self.job = SuspendedJob(on: loop) }

    /// Suspends the calling task until it is resumed; may be called once.
    @inline(never)  // Inlining might remove the change of executor, the purpose of this method.
    package func wait() { self.job.checkResumption() }

    /// Suspends the task in the caller's isolation, and calls `onCancel` if the task is cancelled.
    ///
    /// - Parameters:
    ///   - isolation: The caller's isolation. A `nonisolated(nonsending)` function must pass it, because a
    ///     default would be nil.
    ///   - begin: Called first; from then on the task may be resumed.
    ///   - onCancel: Called when the task is cancelled; it must cause a resumption.
    /// - Throws: The error of `begin`; the task must not be resumed after an error.
    package func wait(
        isolation: isolated (any Actor)?,
        _ begin: () throws -> Void,
        onCancel: @Sendable () -> Void
    ) async rethrows {
        try await withTaskCancellationHandler(
            operation: {
                // Capturing the parameter isolates the closure to the caller.
                _ = isolation
                try begin()
                await self.wait()
            },
            onCancel: onCancel
        )
    }

    /// Resumes the task at once, or as soon as it waits; must be called once.
    package nonisolated func resume() { self.job.resume(.onLoop) }

    /// Runs the task within this call, or resumes it as soon as it waits; must be called once.
    ///
    /// The caller must be on the loop's thread, and must not be code of a task.
    package nonisolated func resumeInPlace() { self.job.resume(.inPlace) }

    /// Resumes the task on the default executor, for a loop that may not be running; must be called once.
    package nonisolated func resumeElsewhere() { self.job.resume(.elsewhere) }

    /// Stores the job of the waiting task; the runtime calls this method.
    package nonisolated func enqueue(_ job: consuming ExecutorJob) { self.job.enqueue(job) }

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe UnownedSerialExecutor(ordinary: self)
    }
}

/// The job of a waiting task, for an actor that is its own executor.
///
/// The job and the resumption arrive in either order, and the second of them submits the job. A task that is
/// resumed in place may come back as another job: code that is isolated to the actor may begin and end with a
/// change to its executor. That job runs within the same call.
package struct SuspendedJob: ~Copyable, Sendable {
    /// The way in which the task continues.
    package enum Resumption: UInt {
        /// As a job of the loop.
        case onLoop = 1
        /// Within the call that resumes it, if the task waits already and the call is on the loop's thread
        /// and not in code of a task.
        case inPlace
        /// On the executor that it prefers, or the default one, for a loop that may not be running.
        case elsewhere
        /// In place, by a call that has not returned; only ``SuspendedJob`` itself sets this state.
        case running
    }

    /// The core of the loop to resume on; `held` keeps the loop alive.
    private let loop: Unretained<LoopCore>?
    private let held: EventLoop?
    /// Zero at first, then either the job's address or the raw value of the resumption, whichever arrives
    /// first.
    ///
    /// In the end it is the raw value of the resumption.
    private let word = Atomic<UInt>(0)

    /// Creates a value without a job.
    ///
    /// - Parameter loop: The loop to resume on; nil for the default executor, from which the task returns to
    ///   its actor.
    package init(on loop: EventLoop?) {
        self.loop = loop.map { Unretained($0.core) }
        self.held = loop
    }

    /// Resumes the task at once, or as soon as it waits.
    ///
    /// The caller must hold the actor until this method returns.
    package borrowing func resume(_ resumption: Resumption) {
        let address = self.word.exchange(resumption.rawValue, ordering: .acquiringAndReleasing)
        guard address != 0 else { return }
        precondition(
            Resumption(rawValue: address) == nil,
            "internal error: a suspended task was resumed twice"
        )
        if resumption == .inPlace, self.run(address) { return }
        self.submit(address, resumption)
    }

    /// Stores the job of the waiting task; the actor calls this method when the runtime enqueues the job.
    package borrowing func enqueue(_ job: consuming ExecutorJob) {
        // An `UnownedJob` contains only the address of the job.
        let address = unsafe unsafeBitCast(UnownedJob(job), to: UInt.self)
        let word = self.word.exchange(address, ordering: .acquiringAndReleasing)
        guard word != 0 else { return }
        guard let resumption = Resumption(rawValue: word) else {
            preconditionFailure("internal error: a task was suspended twice on one object")
        }
        // The call that has resumed the task will find the job.
        if resumption == .running { return }
        self.word.store(word, ordering: .relaxed)
        // The job cannot run in place, because this call is made by the task's own code.
        self.submit(address, resumption == .inPlace ? .onLoop : resumption)
    }

    /// Whether the task has been resumed.
    package var isResumed: Bool { Resumption(rawValue: self.word.load(ordering: .relaxed)) != nil }

    /// Checks that the calling task was resumed before it continued.
    package borrowing func checkResumption() {
        precondition(self.isResumed, "internal error: a suspended task continued without being resumed")
    }

    /// Runs a job at once, and then each job that the task enqueues here meanwhile.
    ///
    /// - Returns: Whether the calling thread runs the loop; if not, no job has run.
    private borrowing func run(_ address: UInt) -> Bool {
        // The waiting job keeps the loop alive.
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
            return Self.enqueueElsewhere(job)
        }
        // The job is submitted as a job of the loop: the actor has no other state that the loop's jobs could
        // race with. The waiting task holds its actor, and the job keeps the loop alive.
        unsafe loop.withUnsafeObject { $0.submit(WorkItem(job, as: .actorJob)) }
    }

    /// Enqueues a job on the executor that its task prefers, or on the default executor.
    private static func enqueueElsewhere(_ job: UnownedJob) {
        #if WAYBILL_PUBLIC_API_ONLY
        // A task that prefers an executor treats the global executor as that executor, and runs on it until
        // it changes its isolation.
        globalConcurrentExecutor.enqueue(job)
        #else
        unsafe waybill_enqueue(unsafeBitCast(job, to: UnsafeMutableRawPointer.self))
        #endif
    }

    /// Returns the job at an address that ``enqueue(_:)`` has stored; the job must not have run.
    private static func job(_ address: UInt) -> UnownedJob {
        // An `UnownedJob` contains only the address of the job.
        unsafe unsafeBitCast(address, to: UnownedJob.self)
    }
}
