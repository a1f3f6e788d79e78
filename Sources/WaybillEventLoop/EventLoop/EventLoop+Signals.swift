extension EventLoop {
    /// Returns a sequence of signals that the process receives.
    ///
    /// ```swift
    /// for try await signal in try await loop.signals(.interrupt, .terminate) { ... }
    /// ```
    ///
    /// The process catches the signals before the call returns, so no later signal is lost. The call may come
    /// from any context, and several sequences may wait for the same signal.
    ///
    /// - Parameter signals: The signals to wait for.
    /// - Returns: The signals in the order of their arrival.
    /// - Throws: ``EventLoopError`` with the code `shutDown` if the loop has shut down, or with the code
    ///   `system` if a signal cannot be caught, such as `SIGKILL`, or must stay ignored (`SIGPIPE`).
    public func signals(_ signals: Signal...) async throws(EventLoopError) -> SignalSequence {
        try await self.signals(Set(signals))
    }

    /// Returns a sequence of signals that the process receives, for a set that is known only at run time.
    ///
    /// See ``signals(_:)``.
    ///
    /// - Parameter wanted: The signals to wait for.
    /// - Returns: The signals in the order of their arrival.
    /// - Throws: ``EventLoopError`` with the code `shutDown` if the loop has shut down, or with the code
    ///   `system` if a signal cannot be caught, such as `SIGKILL`, or must stay ignored (`SIGPIPE`).
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

extension LoopCore {
    /// Creates a subscription and starts to watch for its signals, on the loop's thread.
    func subscribe(to signals: Set<Signal>) throws(EventLoopError) -> SignalSequence.Stream {
        guard unsafe self.state.pointee.handles != nil else { throw .shutDown(self.name) }
        // At the end of a subscription, libuv restores the default action of the signal. The next write to a
        // closed connection would then end the process.
        guard !signals.contains(.brokenPipe) else {
            let message = "could not wait for SIGPIPE: a write to a closed connection is an error instead"
            throw EventLoopError(.system, message: message)
        }
        let (stream, continuation) = SignalSequence.Stream.makeStream(
            bufferingPolicy: .bufferingNewest(SignalSequence.limit)
        )
        let subscription = try SignalSubscription(
            signals,
            on: self.uv,
            continuation: continuation,
            closing: { self.close($0) }
        )
        let id = unsafe self.state.pointee.nextSubscription
        unsafe self.state.pointee.nextSubscription += 1
        unsafe self.state.pointee.subscriptions[id] = subscription
        continuation.onTermination = { _ in self.submit(WorkItem { self.unsubscribe(id) }) }
        return stream
    }

    /// Fails every signal sequence when the loop shuts down.
    func endSubscriptions() {
        let subscriptions = unsafe self.state.pointee.subscriptions.values
        unsafe self.state.pointee.subscriptions = [:]
        for subscription in subscriptions {
            subscription.end(throwing: .shutDown(self.name)) { self.close($0) }
        }
    }

    private func unsubscribe(_ id: UInt64) {
        let subscription = unsafe self.state.pointee.subscriptions.removeValue(forKey: id)
        subscription?.end(throwing: nil) { self.close($0) }
    }

    private func close(_ handle: SignalHandle) {
        unsafe self.state.pointee.openHandles += 1
        handle.close { self.handleClosed() }
    }
}
