internal import WaybillEventLoop

extension EventLoop {
    /// Suspends the caller until the loop has polled for I/O and timers, and the jobs before it have run.
    ///
    /// `Task.yield()` would do so by way of another thread: it is not isolated to its caller.
    nonisolated(nonsending) func turn() async {
        await withCheckedContinuation { continuation in self.execute { continuation.resume() } }
    }
}
