internal import CLibUV
internal import Synchronization

/// A waiting task, represented by an actor that is its own executor.
///
/// ``wait()`` runs on this executor, so the runtime enqueues the continuation of the calling task here as a
/// job. The actor keeps the job until the task is resumed, and then submits the job to the loop.
///
/// The type is not generic, because code in another module would have to look up the metadata of a generic
/// type for each waiting task. A type that stores more data for its waiting task is a separate actor with a
/// ``SuspendedJob``.
package actor SuspendedTask: SerialExecutor {
    private nonisolated let job: SuspendedJob

    /// Creates an actor for one task.
    ///
    /// - Parameter loop: The loop to resume on; nil for the default executor, from which the task returns to
    ///   its actor.
    package init(on loop: EventLoop?) { self.job = SuspendedJob(on: loop) }

    /// Suspends the calling task until it is resumed; may be called once.
    @inline(never)  // Inlining might remove the change of executor, the purpose of this method.
    package func wait() { self.job.assertIsResumed() }

    /// Suspends the task in the caller's isolation, and calls `onCancel` if the task is cancelled.
    ///
    /// - Parameters:
    ///   - isolation: The caller's isolation. A `nonisolated(nonsending)` function must pass it, because a
    ///     default would be nil.
    ///   - begin: A closure that is called first, and from then on the task may be resumed.
    ///   - onCancel: A closure that is called when the task is cancelled, and that must cause a resumption.
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

    /// Resumes the task and runs it before this call returns; must be called once.
    ///
    /// If the task does not wait yet, it continues as soon as it waits. The caller must be on the loop's
    /// thread, and must not be code of a task.
    package nonisolated func resumeInPlace() { self.job.resume(.inPlace) }

    /// Stores the job of the waiting task; the runtime calls this method.
    package nonisolated func enqueue(_ job: consuming ExecutorJob) { self.job.enqueue(job) }

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe UnownedSerialExecutor(ordinary: self)
    }
}

/// The job of a waiting task, for an actor that is its own executor.
///
/// The job and the resumption arrive in either order. The second to arrive submits the job. A task that is
/// resumed in place can be enqueued here again, because code that is isolated to the actor may begin and end
/// with a change to the actor's executor. The new job runs within the same call.
package struct SuspendedJob: ~Copyable, Sendable {
    /// The way in which the task continues.
    package enum Resumption: UInt {
        /// As a job of the loop.
        case onLoop = 1
        /// Before the resuming call returns.
        ///
        /// The task must wait already, and the call must be on the loop's thread and not in code of a task.
        /// Otherwise the task continues as a job of the loop.
        case inPlace
        /// On the executor that the task prefers, or on the default executor.
        ///
        /// This case is for a loop that has possibly stopped.
        case elsewhere
        /// In place, by a call that has not returned yet. Only ``SuspendedJob`` itself sets this state.
        case running
    }

    /// The core of the loop to resume on; `held` keeps the loop alive.
    private let loop: Unretained<LoopCore>?
    private let held: EventLoop?
    /// The job's address or the raw value of the resumption.
    ///
    /// The word is zero at first. It then has the value that arrives first, and in the end the raw value of
    /// the resumption.
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
    package borrowing func assertIsResumed() {
        precondition(self.isResumed, "internal error: a suspended task continued without being resumed")
    }

    /// Runs a job at once, and then each job that the task enqueues on this object before the method returns.
    ///
    /// - Returns: Whether the calling thread runs the loop. If the result is false, no job has run.
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
        // The loop runs the job like a job of the loop itself. This is safe because the actor has no other
        // state. The waiting task holds its actor, and the job keeps the loop alive.
        unsafe loop.withUnsafeObject { $0.submit(WorkItem(job, as: .actorJob)) }
    }

    /// Enqueues a job on the executor that its task prefers, or on the default executor.
    private static func enqueueElsewhere(_ job: UnownedJob) {
        #if WAYBILL_PUBLIC_API_ONLY
        // The global executor enqueues the job of a task with a preferred executor on the preferred executor.
        // The task stays on that executor until the task changes its isolation.
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
