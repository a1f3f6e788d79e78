extension EventLoop {
    /// Waits for signals of the process.
    ///
    /// ```swift
    /// for try await signal in try await loop.signals(.interrupt, .terminate) { ... }
    /// ```
    ///
    /// When the call returns, the signals are caught already. It may come from any context, and several sequences may wait for
    /// the same signal.
    ///
    /// - Parameter signals: What to wait for.
    /// - Returns: The signals in the order of their arrival.
    /// - Throws: ``EventLoopError`` with the code `shutDown` if the loop has shut down, and `system` if a signal cannot be
    ///   caught, as `SIGKILL`.
    public func signals(_ signals: Signal...) async throws(EventLoopError) -> SignalSequence {
        try await self.signals(Set(signals))
    }

    /// Waits for signals of the process that are known at run time only, as ``signals(_:)`` does.
    ///
    /// - Parameter wanted: What to wait for.
    /// - Returns: The signals in the order of their arrival.
    /// - Throws: ``EventLoopError`` with the code `shutDown` if the loop has shut down, and `system` if a
    ///   signal cannot be caught, as `SIGKILL`.
    public func signals(_ wanted: Set<Signal>) async throws(EventLoopError) -> SignalSequence {
        let result = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<SignalSequence.Stream, EventLoopError>, Never>) in
            self.execute {
                continuation.resume(
                    returning: Result { () throws(EventLoopError) in try self.core.subscribe(to: wanted) }
                )
            }
        }
        return SignalSequence(eventLoop: self, stream: try result.get())
    }
}
