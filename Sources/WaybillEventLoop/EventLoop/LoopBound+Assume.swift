extension LoopBound {
    /// Runs a closure as code of this actor, without suspending: the caller is on the actor's loop already.
    ///
    /// What `assumeIsolated` does, with the loop's own check in place of the runtime's. Traps off the loop.
    ///
    /// - Parameter body: What to run, isolated to the actor.
    /// - Returns: What the closure returns.
    @inlinable
    package nonisolated func assumeOnLoop<Result>(
        _ body: (isolated Self) throws -> sending Result
    ) rethrows -> sending Result {
        typealias Plain = (Self) throws -> Result
        self.eventLoop.preconditionInEventLoop()
        // An isolated parameter is passed like any other. The loop is the actor's executor and this is its thread, so
        // the closure is where its type says that it has to be; and it promises that nobody else has its result.
        nonisolated(unsafe) let result = try withoutActuallyEscaping(body) { escaping in
            try unsafe unsafeBitCast(escaping, to: Plain.self)(self)
        }
        return unsafe result
    }
}
