extension LoopBound {
    /// Runs a closure as code of this actor if the caller is on its loop and the loop need not poll first.
    ///
    /// One check for ``EventLoop/isInEventLoop``, ``EventLoop/consumeDeliveryBudget()`` and ``assumeOnLoop(_:)``, for code
    /// that does all three for every message.
    ///
    /// - Parameter body: what to run, isolated to the actor.
    /// - Returns: what the closure returns, or nil if it did not run.
    /// - Throws: what the closure throws.
    @inlinable
    @inline(__always)
    package nonisolated func deliverOnLoop<Result, Failure: Error>(
        _ body: (isolated Self) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result? {
        guard self.eventLoop.admitsDelivery() else { return nil }
        return try self.runUnchecked(body)
    }
}

extension EventLoop {
    /// Whether the caller is on the loop and may go on without suspending; counts one delivery if so.
    @usableFromInline
    package func admitsDelivery() -> Bool {
        guard self.core.isOnThread else { return false }
        return unsafe self.core.state.pointee.budget.consume(at: { MonotonicTime.now })
    }
}
