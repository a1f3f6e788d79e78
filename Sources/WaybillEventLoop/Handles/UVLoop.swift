internal import CLibUV

/// A `uv_loop_t`, which Waybill either owns or borrows from a host.
@safe
final class UVLoop {
    let pointer: UnsafeMutablePointer<uv_loop_t>
    private let isOwned: Bool

    /// Creates a loop that Waybill owns.
    init() throws(EventLoopError) {
        unsafe self.pointer =
            UnsafeMutableRawPointer
            .allocate(byteCount: uv_loop_size(), alignment: 16)
            .bindMemory(to: uv_loop_t.self, capacity: 1)
        self.isOwned = true
        let status = unsafe uv_loop_init(self.pointer)
        if status < 0 {
            unsafe UnsafeMutableRawPointer(self.pointer).deallocate()
            try EventLoopError.check(status, "create an event loop")
        }
    }

    /// Creates a reference to a loop that a host owns, runs and closes.
    @unsafe
    init(borrowing memory: UnsafeMutableRawPointer) {
        unsafe self.pointer = memory.assumingMemoryBound(to: uv_loop_t.self)
        self.isOwned = false
    }

    /// Runs the loop until no referenced handle is left.
    func run() {
        _ = unsafe uv_run(self.pointer, UV_RUN_DEFAULT)
    }

    /// Polls once without waiting, and runs the callbacks that are due.
    func runOnce() {
        _ = unsafe uv_run(self.pointer, UV_RUN_NOWAIT)
    }

    /// The descriptor of the kernel's event queue.
    var backendDescriptor: Int32 { unsafe uv_backend_fd(self.pointer) }

    /// The longest time that a poll may wait, in milliseconds; -1 for no limit.
    var backendTimeout: Int32 {
        unsafe uv_update_time(self.pointer)
        return unsafe uv_backend_timeout(self.pointer)
    }

    /// Whether libuv will register a new descriptor with the kernel only at the next poll.
    var hasNewWatchers: Bool {
        #if WAYBILL_PUBLIC_API_ONLY
        // libuv has no public function that reports new watchers. The result is therefore always true, and a
        // driven loop polls again without waiting.
        true
        #else
        unsafe waybill_has_new_watchers(self.pointer) != 0
        #endif
    }

    /// Frees a loop that Waybill owns; does nothing to a borrowed loop.
    ///
    /// Before the call, every handle must be closed and its close callback must have run, except the handles
    /// of signals when the process has begun to exit.
    func close() {
        guard self.isOwned else { return }
        let status = unsafe uv_loop_close(self.pointer)
        // The memory of a loop with an open handle is not freed, because the process ends anyway.
        if status == UV_EBUSY.rawValue, ProcessExit.isUnderway { return }
        precondition(status == 0, "internal error: a libuv loop was closed while a handle was open")
        unsafe UnsafeMutableRawPointer(self.pointer).deallocate()
    }
}
