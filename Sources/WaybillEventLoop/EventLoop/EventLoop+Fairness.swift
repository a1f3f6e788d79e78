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

    /// Suspends the caller until the jobs before this one have run, and the loop has polled if its budget is used up.
    package nonisolated(nonsending) func turn() async {
        let pause = Pause<Void>(on: self)
        self.execute { pause.resume(returning: ()) }
        await pause.wait()
    }
}
