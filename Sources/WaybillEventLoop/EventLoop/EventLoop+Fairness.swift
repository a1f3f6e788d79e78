extension EventLoop {
    /// Counts one delivery against what the loop may do before it polls for I/O and timers again.
    ///
    /// For the loop's thread only. Once it answers false the caller must suspend, with ``turn()``: the loop then polls before it
    /// runs anything else.
    ///
    /// - Returns: Whether the caller may go on without suspending.
    @inline(__always)
    package func consumeDeliveryBudget() -> Bool {
        assert(self.isInEventLoop, "the budget belongs to the loop's thread")
        return unsafe self.core.state.pointee.budget.consume(at: { MonotonicTime.now })
    }

    /// Counts one unit of work against the budget of the loop that the caller is on, if it is on one, and lets the loop
    /// poll when the budget is used up.
    ///
    /// Every public call that may return without having suspended begins with this: a caller on a loop that repeats it
    /// for ever keeps neither timers nor I/O waiting. A caller that belongs to no actor may start on the loop's thread and
    /// be elsewhere when this returns.
    package static nonisolated(nonsending) func yieldIfDue() async {
        while let loop = EventLoop.current, !loop.consumeDeliveryBudget() { await loop.turn() }
    }

    /// Suspends the caller until the jobs before this one have run, and the loop has polled if its budget is used up.
    package nonisolated(nonsending) func turn() async {
        let pause = Pause<Void>(on: self)
        self.execute { pause.resume(returning: ()) }
        await pause.wait()
    }
}
