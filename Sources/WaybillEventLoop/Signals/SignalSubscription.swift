internal import CLibUV

/// The handles of one signal sequence, and the continuation that receives their signals.
struct SignalSubscription {
    private let handles: [SignalHandle]
    private let continuation: SignalSequence.Stream.Continuation

    /// Creates a subscription and starts to watch for its signals, on the loop's thread.
    ///
    /// If a signal cannot be caught, no signal is watched. `closing` closes a handle, and makes the loop wait
    /// until the handle is closed.
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

    /// Stops watching, and ends the sequence with an error, or normally if `error` is nil.
    func end(throwing error: EventLoopError?, closing: (SignalHandle) -> Void) {
        for handle in self.handles { closing(handle) }
        self.continuation.finish(throwing: error)
    }
}

/// A handle that runs a closure each time the process receives a signal.
@safe
struct SignalHandle {
    private let handle: LoopHandle

    init(on loop: UVLoop, onEvent: @escaping () -> Void) throws(EventLoopError) {
        self.handle = try unsafe LoopHandle(UV_SIGNAL, onEvent: onEvent) { memory in
            unsafe uv_signal_init(loop.pointer, memory.assumingMemoryBound(to: uv_signal_t.self))
        }
    }

    /// Starts to watch for a signal, or throws an error if the signal cannot be caught.
    func start(_ signal: Signal) throws(EventLoopError) {
        let status = ProcessExit.unlessBegun {
            unsafe uv_signal_start(
                self.handle.memory.assumingMemoryBound(to: uv_signal_t.self),
                { handle, _ in unsafe LoopHandle.fire(handle) },
                signal.number
            )
        }
        try EventLoopError.check(status ?? UV_ECANCELED.rawValue, "wait for \(signal)")
        // A subscription to a signal must not keep a host's loop running.
        self.handle.unreference()
    }

    /// Closes the handle; does nothing once the process has begun to exit.
    func close(onClosed: @escaping () -> Void) {
        _ = ProcessExit.unlessBegun { self.handle.close(onClosed: onClosed) }
    }
}
