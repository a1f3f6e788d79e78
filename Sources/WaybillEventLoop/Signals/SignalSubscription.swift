/// One sequence's part of a loop: its handles, and where the signals go.
struct SignalSubscription {
    private let handles: [SignalHandle]
    private let continuation: SignalSequence.Stream.Continuation

    /// Starts to watch for signals, on the loop's thread.
    ///
    /// - Parameters:
    ///   - signals: What to watch for.
    ///   - loop: The loop that watches.
    ///   - continuation: Where the signals go.
    ///   - closing: Closes a handle and has the loop wait for that.
    /// - Throws: ``EventLoopError`` if a signal cannot be caught; then nothing is watched.
    init(
        _ signals: Set<Signal>,
        on loop: UVLoop,
        continuation: SignalSequence.Stream.Continuation,
        closing: (SignalHandle) -> Void
    ) throws(EventLoopError) {
        var handles: [SignalHandle] = []
        do throws(EventLoopError) {
            for signal in signals {
                let handle = try SignalHandle(on: loop) { continuation.yield(signal) }
                handles.append(handle)
                try handle.start(signal)
            }
        } catch {
            for handle in handles { closing(handle) }
            throw error
        }
        self.handles = handles
        self.continuation = continuation
    }

    /// Stops watching.
    ///
    /// - Parameters:
    ///   - error: How the sequence ends.
    ///   - closing: Closes a handle and has the loop wait for that.
    func end(throwing error: EventLoopError?, closing: (SignalHandle) -> Void) {
        for handle in self.handles { closing(handle) }
        self.continuation.finish(throwing: error)
    }
}
