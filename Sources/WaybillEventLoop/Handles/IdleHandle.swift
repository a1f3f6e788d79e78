internal import CLibUV

/// Keeps the loop from blocking in its poll while it is started.
@safe
struct IdleHandle {
    private let handle: LoopHandle

    init(on loop: UVLoop, onEvent: @escaping () -> Void) throws(EventLoopError) {
        self.handle = try unsafe LoopHandle(UV_IDLE, onEvent: onEvent) { memory in
            unsafe uv_idle_init(loop.pointer, memory.assumingMemoryBound(to: uv_idle_t.self))
        }
    }

    /// Starts the handle; starting it twice is harmless.
    func start() {
        _ = unsafe uv_idle_start(self.handle.memory.assumingMemoryBound(to: uv_idle_t.self)) { handle in
            unsafe LoopHandle.fire(handle)
        }
    }

    /// Stops the handle; stopping it twice is harmless.
    func stop() {
        _ = unsafe uv_idle_stop(self.handle.memory.assumingMemoryBound(to: uv_idle_t.self))
    }

    /// Lets the loop end although the handle is started.
    func unreference() { self.handle.unreference() }

    /// Closes the handle.
    func close(onClosed: @escaping () -> Void) { self.handle.close(onClosed: onClosed) }
}
