internal import CLibUV

/// The libuv handles that every loop has, except the wake-up handle.
@safe
struct LoopHandles {
    /// The handle that runs a closure each time the loop is about to poll.
    private let prepare: LoopHandle
    /// The handle that runs a closure each time the loop has polled.
    private let check: LoopHandle
    let idle: IdleHandle
    let timer: TimerHandle

    init(
        on loop: UVLoop,
        beforePoll: @escaping () -> Void,
        afterPoll: @escaping () -> Void,
        onTimer: @escaping () -> Void
    ) throws(EventLoopError) {
        self.prepare = try unsafe LoopHandle(UV_PREPARE, onEvent: beforePoll) { memory in
            let prepare = unsafe memory.assumingMemoryBound(to: uv_prepare_t.self)
            _ = unsafe uv_prepare_init(loop.pointer, prepare)
            return unsafe uv_prepare_start(prepare) { handle in unsafe LoopHandle.fire(handle) }
        }
        self.check = try unsafe LoopHandle(UV_CHECK, onEvent: afterPoll) { memory in
            let check = unsafe memory.assumingMemoryBound(to: uv_check_t.self)
            _ = unsafe uv_check_init(loop.pointer, check)
            return unsafe uv_check_start(check) { handle in unsafe LoopHandle.fire(handle) }
        }
        // The idle handle is started while work is queued. It does nothing except keep the poll from
        // blocking.
        self.idle = try IdleHandle(on: loop) {}
        self.timer = try TimerHandle(on: loop, onEvent: onTimer)
        // The prepare and check handles fire in every iteration, so they must not keep a host's loop alive.
        self.prepare.unreference()
        self.check.unreference()
    }

    /// The number of times that ``close(onClosed:)`` calls its closure.
    static var count: Int { 4 }

    func close(onClosed: @escaping () -> Void) {
        self.prepare.close(onClosed: onClosed)
        self.check.close(onClosed: onClosed)
        self.idle.close(onClosed: onClosed)
        self.timer.close(onClosed: onClosed)
    }
}

/// A handle that keeps the loop's poll from blocking while the handle is started.
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

    func close(onClosed: @escaping () -> Void) { self.handle.close(onClosed: onClosed) }
}

/// The only libuv timer of a loop.
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

    /// Arms the timer to fire once, `delay` nanoseconds from now.
    ///
    /// libuv counts in whole milliseconds, on a clock that it reads once per iteration of the loop. This
    /// method rounds the deadline up, because a timer that fires early would have to be armed again. If the
    /// delay is zero or less, the timer fires in the loop's next iteration.
    func start(after delay: Int64) {
        var timeout: UInt64 = 0
        if delay > 0 {
            let due = uv_hrtime().addingReportingOverflow(UInt64(delay))
            let milliseconds = due.overflow ? .max / 1_000_000 : (due.partialValue &+ 999_999) / 1_000_000
            let loopTime = unsafe uv_now(uv_handle_get_loop(self.handle.base))
            if milliseconds > loopTime { timeout = milliseconds - loopTime }
        }
        _ = unsafe uv_timer_start(self.timer, { handle in unsafe LoopHandle.fire(handle) }, timeout, 0)
    }

    /// Disarms the timer.
    func stop() { _ = unsafe uv_timer_stop(self.timer) }

    func close(onClosed: @escaping () -> Void) { self.handle.close(onClosed: onClosed) }
}
