internal import CLibUV

/// The one libuv timer of a loop.
@safe
struct TimerHandle {
    private let handle: LoopHandle

    init(on loop: UVLoop, onEvent: @escaping () -> Void) throws(EventLoopError) {
        self.handle = try unsafe LoopHandle(UV_TIMER, onEvent: onEvent) { memory in
            unsafe uv_timer_init(loop.pointer, memory.assumingMemoryBound(to: uv_timer_t.self))
        }
    }

    private var timer: UnsafeMutablePointer<uv_timer_t> {
        unsafe self.handle.memory.assumingMemoryBound(to: uv_timer_t.self)
    }

    /// Arms the timer, once.
    ///
    /// libuv counts whole milliseconds of a clock it reads once per turn, and a timer that it fires early would only
    /// have to be armed again: so the deadline is rounded up on that very clock.
    ///
    /// - Parameter delay: Nanoseconds from this moment; zero or less fires in the loop's next turn.
    func start(after delay: Int64) {
        let now = uv_hrtime()
        let due = now.addingReportingOverflow(UInt64(max(delay, 0)))
        let milliseconds = due.overflow ? .max / 1_000_000 : (due.partialValue &+ 999_999) / 1_000_000
        let loopTime = unsafe uv_now(uv_handle_get_loop(self.handle.base))
        _ = unsafe uv_timer_start(
            self.timer,
            { handle in unsafe LoopHandle.fire(handle) },
            milliseconds > loopTime ? milliseconds - loopTime : 0,
            0
        )
    }

    /// Disarms the timer.
    func stop() { _ = unsafe uv_timer_stop(self.timer) }

    /// Closes the handle.
    func close(onClosed: @escaping () -> Void) { self.handle.close(onClosed: onClosed) }
}
