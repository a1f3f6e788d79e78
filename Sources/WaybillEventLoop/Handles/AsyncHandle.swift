internal import CLibUV

/// Runs a closure on the loop after another thread has sent a wake-up; libuv's own way, on every platform.
@safe
struct AsyncHandle {
    private let handle: LoopHandle

    init(on loop: UVLoop, onEvent: @escaping () -> Void) throws(EventLoopError) {
        self.handle = try unsafe LoopHandle(UV_ASYNC, onEvent: onEvent) { memory in
            unsafe uv_async_init(loop.pointer, memory.assumingMemoryBound(to: uv_async_t.self)) { handle in
                unsafe LoopHandle.fire(handle)
            }
        }
    }

    /// Wakes the loop, from any thread; the caller makes sure that the handle has not been closed.
    func send() {
        _ = unsafe uv_async_send(self.handle.memory.assumingMemoryBound(to: uv_async_t.self))
    }

    /// Lets the loop end although the handle is active.
    func unreference() { self.handle.unreference() }

    /// Closes the handle.
    func close(onClosed: @escaping () -> Void) { self.handle.close(onClosed: onClosed) }
}
