extension EventLoop: SerialExecutor {
    /// Queues a job of an actor that is bound to this loop; the runtime calls this.
    public func enqueue(_ job: consuming ExecutorJob) {
        self.core.submit(WorkItem(UnownedJob(job), as: .actorJob))
    }

    /// The loop as the runtime names it.
    public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        unsafe UnownedSerialExecutor(ordinary: self)
    }

    /// Traps unless the calling thread runs this loop; makes `assumeIsolated` work outside tasks.
    public func checkIsolated() { self.preconditionInEventLoop() }

    /// Whether the calling thread runs this loop; makes `assumeIsolated` work outside tasks.
    public func isIsolatingCurrentContext() -> Bool? { self.isInEventLoop }
}

extension EventLoop {
    /// Runs tasks on this loop: `Task(executorPreference: loop.taskExecutor) { ... }`.
    ///
    /// Code that belongs to no actor then runs on the loop's thread. Calls between actors of the loop are
    /// cheaper without it.
    public var taskExecutor: EventLoopTaskExecutor {
        self.taskExecutorReference.withLock { reference in
            if let executor = reference.executor { return executor }
            let executor = EventLoopTaskExecutor(eventLoop: self)
            reference.executor = executor
            return executor
        }
    }
}

/// Runs tasks, and not only actors, on an event loop; see ``EventLoop/taskExecutor``.
///
/// It is an object of its own because the two ways of running a job differ: an actor's job that carried a
/// task executor would be queued anew at each `await` between two actors of the loop.
public final class EventLoopTaskExecutor: TaskExecutor {
    /// The loop that runs the tasks; the executor keeps it alive.
    public let eventLoop: EventLoop

    init(eventLoop: EventLoop) {
        self.eventLoop = eventLoop
    }

    /// Queues a job of a task that prefers this executor; the runtime calls this.
    public func enqueue(_ job: consuming ExecutorJob) {
        self.eventLoop.core.submit(WorkItem(UnownedJob(job), as: .taskJob))
    }
}

/// A weak reference from a loop to its task executor, which holds the loop.
struct WeakTaskExecutor {
    weak var executor: EventLoopTaskExecutor?
}
