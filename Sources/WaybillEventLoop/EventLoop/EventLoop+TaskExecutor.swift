extension EventLoop {
    /// Runs tasks on this loop: `Task(executorPreference: loop.taskExecutor) { ... }`.
    ///
    /// Code that belongs to no actor then runs on the loop's thread. Calls between actors of the loop are cheaper without it.
    public var taskExecutor: EventLoopTaskExecutor {
        self.taskExecutorReference.withLock { reference in
            if let executor = reference.executor { return executor }
            let executor = EventLoopTaskExecutor(eventLoop: self)
            reference.executor = executor
            return executor
        }
    }
}
