internal import CLibUV

/// Runs a closure each time the loop has polled.
@safe
struct CheckHandle {
    private let handle: LoopHandle

    init(on loop: UVLoop, onEvent: @escaping () -> Void) throws(EventLoopError) {
        self.handle = try unsafe LoopHandle(UV_CHECK, onEvent: onEvent) { memory in
            unsafe uv_check_init(loop.pointer, memory.assumingMemoryBound(to: uv_check_t.self))
        }
    }

    /// Starts the handle; starting it twice is harmless.
    func start() {
        _ = unsafe uv_check_start(self.handle.memory.assumingMemoryBound(to: uv_check_t.self)) { handle in
            unsafe LoopHandle.fire(handle)
        }
    }

    /// Stops the handle; stopping it twice is harmless.
    func stop() {
        _ = unsafe uv_check_stop(self.handle.memory.assumingMemoryBound(to: uv_check_t.self))
    }

    /// Lets the loop end although the handle is started.
    func unreference() { self.handle.unreference() }

    /// Closes the handle.
    func close(onClosed: @escaping () -> Void) { self.handle.close(onClosed: onClosed) }
}
