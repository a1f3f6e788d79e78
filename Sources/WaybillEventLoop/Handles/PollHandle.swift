internal import CLibUV

/// Runs a closure each time a file descriptor is readable.
@safe
struct PollHandle {
    private let handle: LoopHandle

    init(on loop: UVLoop, descriptor: Int32, onEvent: @escaping () -> Void) throws(EventLoopError) {
        self.handle = try unsafe LoopHandle(UV_POLL, onEvent: onEvent) { memory in
            unsafe uv_poll_init(loop.pointer, memory.assumingMemoryBound(to: uv_poll_t.self), descriptor)
        }
    }

    /// Starts to watch the descriptor.
    func start() {
        _ = unsafe uv_poll_start(
            self.handle.memory.assumingMemoryBound(to: uv_poll_t.self),
            Int32(UV_READABLE.rawValue),
            { handle, _, _ in unsafe LoopHandle.fire(handle) }
        )
    }

    /// Lets the loop end although the handle is started.
    func unreference() { self.handle.unreference() }

    /// Closes the handle; the descriptor stays open until `onClosed`, and is the caller's to close.
    func close(onClosed: @escaping () -> Void) { self.handle.close(onClosed: onClosed) }
}
