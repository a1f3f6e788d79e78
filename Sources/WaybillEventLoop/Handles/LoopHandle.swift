internal import CLibUV

/// The memory of a libuv handle of any type, and the closure that runs when the handle fires.
///
/// This class is the common part of the typed handles in this folder. Use the typed handles instead of this
/// class. After a successful initialisation, libuv's `data` field owns the object until the close callback.
/// Only the close callback frees the memory. All calls happen on the loop's thread.
@safe
final class LoopHandle {
    let memory: UnsafeMutableRawPointer
    private let onEvent: () -> Void
    private var onClosed: (() -> Void)?

    /// Allocates a handle of the size of `type`, and passes it to libuv by `initialise`.
    ///
    /// If `initialise` returns a negative status, the handle is freed again.
    init(
        _ type: uv_handle_type,
        onEvent: @escaping () -> Void,
        initialise: (UnsafeMutableRawPointer) -> Int32
    ) throws(EventLoopError) {
        // The size of a handle in the linked library may differ from the size in the header at compile time.
        unsafe self.memory = .allocate(byteCount: uv_handle_size(type), alignment: 16)
        self.onEvent = onEvent
        let status = unsafe initialise(self.memory)
        if status < 0 {
            unsafe self.memory.deallocate()
            try EventLoopError.check(status, "open a handle")
        }
        unsafe uv_handle_set_data(self.base, CallbackContext.retaining(self))
    }

    /// The handle as a `uv_handle_t`, the common beginning of every libuv handle.
    var base: UnsafeMutablePointer<uv_handle_t> {
        unsafe self.memory.assumingMemoryBound(to: uv_handle_t.self)
    }

    /// Lets the loop end although the handle is active.
    func unreference() { unsafe uv_unref(self.base) }

    /// Closes the handle; `onClosed` runs when libuv no longer uses the memory of the handle.
    func close(onClosed: @escaping () -> Void) {
        self.onClosed = onClosed
        unsafe uv_close(self.base) { handle in
            guard let handle = unsafe handle, let data = unsafe uv_handle_get_data(handle) else { return }
            let owner = unsafe CallbackContext.take(data, as: LoopHandle.self)
            unsafe owner.memory.deallocate()
            // Remove the closure from the handle, because the closure may own the owner of this handle.
            owner.onClosed.take()?()
        }
    }

    /// Runs the event closure of the handle at `memory`, for use in libuv's callbacks.
    static func fire(_ memory: UnsafeMutableRawPointer?) {
        guard let memory = unsafe memory,
            let data = unsafe uv_handle_get_data(memory.assumingMemoryBound(to: uv_handle_t.self))
        else { return }
        unsafe CallbackContext.object(of: data, as: LoopHandle.self).onEvent()
    }
}
