extension EventLoop: SerialExecutor {
    /// Enqueues a job of an actor that is bound to this loop; the runtime calls this method.
    public func enqueue(_ job: consuming ExecutorJob) {
        self.core.submit(WorkItem(UnownedJob(job), as: .actorJob))
    }

    /// Returns the runtime's reference to this executor.
    public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        unsafe UnownedSerialExecutor(ordinary: self)
    }

    /// Traps unless the calling thread runs this loop.
    ///
    /// The runtime calls this for `assumeIsolated` outside tasks.
    public func checkIsolated() { self.preconditionInEventLoop() }

    /// Returns whether the calling thread runs this loop.
    ///
    /// The runtime calls this for `assumeIsolated` outside tasks.
    public func isIsolatingCurrentContext() -> Bool? { self.isInEventLoop }
}

extension EventLoop {
    /// An executor that runs tasks on this loop: `Task(executorPreference: loop.taskExecutor) { ... }`.
    ///
    /// With this executor, code that is not isolated to an actor also runs on the loop's thread. Calls
    /// between actors of the loop are cheaper without this executor.
    public var taskExecutor: EventLoopTaskExecutor {
        self.taskExecutorReference.withLock { reference in
            if let executor = reference.executor { return executor }
            let executor = EventLoopTaskExecutor(eventLoop: self)
            reference.executor = executor
            return executor
        }
    }
}

/// An executor that runs tasks, and not only actors, on an event loop; see ``EventLoop/taskExecutor``.
///
/// This type is separate from ``EventLoop`` because tasks and actors run their jobs differently. If an
/// actor's job carried a task executor, the runtime would enqueue the job again at each `await` between two
/// actors of the loop.
public final class EventLoopTaskExecutor: TaskExecutor {
    /// The loop that runs the tasks; the executor keeps it alive.
    public let eventLoop: EventLoop

    init(eventLoop: EventLoop) {
        self.eventLoop = eventLoop
    }

    /// Enqueues a job of a task that prefers this executor; the runtime calls this method.
    public func enqueue(_ job: consuming ExecutorJob) {
        self.eventLoop.core.submit(WorkItem(UnownedJob(job), as: .taskJob))
    }
}

/// A weak reference from a loop to its task executor, which has a strong reference to the loop.
struct WeakTaskExecutor {
    weak var executor: EventLoopTaskExecutor?
}
