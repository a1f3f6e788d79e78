internal import CLibUV

/// Runs a closure each time the process receives a signal.
@safe
struct SignalHandle {
    private let handle: LoopHandle

    init(on loop: UVLoop, onEvent: @escaping () -> Void) throws(EventLoopError) {
        self.handle = try unsafe LoopHandle(UV_SIGNAL, onEvent: onEvent) { memory in
            unsafe uv_signal_init(loop.pointer, memory.assumingMemoryBound(to: uv_signal_t.self))
        }
    }

    /// Starts to watch for a signal.
    ///
    /// - Parameter signal: What to watch for.
    /// - Throws: ``EventLoopError`` if the signal cannot be caught.
    func start(_ signal: Signal) throws(EventLoopError) {
        let status = unsafe uv_signal_start(
            self.handle.memory.assumingMemoryBound(to: uv_signal_t.self),
            { handle, _ in unsafe LoopHandle.fire(handle) },
            signal.number
        )
        try EventLoopError.check(status, "wait for \(signal)")
        // Nobody who waits for a signal wants a host's loop to go on for it.
        self.handle.unreference()
    }

    /// Closes the handle.
    func close(onClosed: @escaping () -> Void) { self.handle.close(onClosed: onClosed) }
}
