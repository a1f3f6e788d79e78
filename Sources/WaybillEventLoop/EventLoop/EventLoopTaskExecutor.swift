/// Runs tasks, and not only actors, on an event loop; see ``EventLoop/taskExecutor``.
///
/// It is an object of its own because the two ways of running a job differ: an actor's job that carried a task executor
/// would be queued anew at each `await` between two actors of the loop.
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

/// The way from a loop to its task executor, which holds the loop.
struct WeakTaskExecutor {
    weak var executor: EventLoopTaskExecutor?
}
