/// The libuv handles that every loop has, apart from the one that wakes it.
struct LoopHandles {
    let prepare: PrepareHandle
    let check: CheckHandle
    let idle: IdleHandle
    let timer: TimerHandle

    init(
        on loop: UVLoop,
        beforePoll: @escaping () -> Void,
        afterPoll: @escaping () -> Void,
        onTimer: @escaping () -> Void
    ) throws(EventLoopError) {
        self.prepare = try PrepareHandle(on: loop, onEvent: beforePoll)
        self.check = try CheckHandle(on: loop, onEvent: afterPoll)
        // Started while work is queued: it has nothing to do but keep the poll from blocking.
        self.idle = try IdleHandle(on: loop) {}
        self.timer = try TimerHandle(on: loop, onEvent: onTimer)
        self.prepare.start()
        self.check.start()
        // They fire on every turn for ever, so they must not be what keeps a host's loop alive.
        self.prepare.unreference()
        self.check.unreference()
    }

    /// How many times ``close(onClosed:)`` will call back.
    static var count: Int { 4 }

    func close(onClosed: @escaping () -> Void) {
        self.prepare.close(onClosed: onClosed)
        self.check.close(onClosed: onClosed)
        self.idle.close(onClosed: onClosed)
        self.timer.close(onClosed: onClosed)
    }
}
