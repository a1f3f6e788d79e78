extension LoopBound {
    /// Runs a closure as code of this actor if the caller is on its loop and the loop need not poll first.
    ///
    /// One check for ``EventLoop/isInEventLoop``, ``EventLoop/consumeDeliveryBudget()`` and ``assumeOnLoop(_:)``, for code
    /// that does all three for every message.
    ///
    /// - Parameter body: what to run, isolated to the actor.
    /// - Returns: what the closure returns, or nil if it did not run.
    @inlinable
    @inline(__always)
    package nonisolated func deliverOnLoop<Result>(
        _ body: (isolated Self) -> sending Result
    ) -> sending Result? {
        guard self.eventLoop.admitsDelivery() else { return nil }
        // As in `assumeOnLoop`, whose check has just been made.
        let isolated = IsolatedCall<Self, Result, Never> { actor, body in body(actor) }
        let plain = unsafe unsafeBitCast(isolated, to: PlainCall<Self, Result, Never>.self)
        nonisolated(unsafe) let result = plain.call(self, body)
        return unsafe result
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
