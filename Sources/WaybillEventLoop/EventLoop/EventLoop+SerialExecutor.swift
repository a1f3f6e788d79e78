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
