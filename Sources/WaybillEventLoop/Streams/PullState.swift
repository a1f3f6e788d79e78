/// The state machine that decides when a descriptor is read, or accepts a connection.
///
/// The descriptor is used only while a task waits. Bytes and connections that no task has asked for stay in
/// the system. When the system's buffers are full, the peer has to stop. Watching starts with the first wait.
/// If the descriptor becomes ready while no task waits, watching stops, and the next call tries at once. A
/// task that is slower than its peer therefore never has to wait for a poll.
struct PullState {
    /// The action of a call.
    enum Call: Equatable {
        /// Try to read or accept, because something may be available.
        case pull
        /// Wait for the descriptor; `watch` is true if watching must start.
        case wait(watch: Bool)
        /// Fail, because another task waits.
        case refuse
    }

    /// The action for an event of the descriptor.
    enum Event: Equatable {
        /// Try to read or accept for the waiting task.
        case pull
        /// Stop watching, because no task waits.
        case unwatch
    }

    private(set) var isWaiting = false
    /// Whether something may be available without waiting for an event.
    private(set) var isReady: Bool
    private(set) var isWatching = false

    /// Creates the state of a descriptor; the first call tries at once if `isReady` is true.
    init(isReady: Bool) { self.isReady = isReady }

    /// Starts a read or an accept for a task.
    mutating func call() -> Call {
        if self.isWaiting { return .refuse }
        if self.isReady { return .pull }
        self.isWaiting = true
        defer { self.isWatching = true }
        return .wait(watch: !self.isWatching)
    }

    /// Records that the descriptor has become ready, and returns the action.
    mutating func becameReady() -> Event {
        if self.isWaiting { return .pull }
        self.isReady = true
        self.isWatching = false
        return .unwatch
    }

    /// Records that bytes or a connection were received; `more` is true if more may be available.
    mutating func took(more: Bool) {
        self.isWaiting = false
        self.isReady = more
    }

    /// Records that nothing was available, so that the next call waits and a waiting task continues to wait.
    mutating func tookNothing() { self.isReady = false }

    /// Records that the task has stopped waiting.
    mutating func cancel() { self.isWaiting = false }

    /// Records that watching has stopped for a while, although a task may wait.
    mutating func pause() {
        self.isReady = false
        self.isWatching = false
    }

    /// Ends a pause, and returns whether watching must start again for a waiting task.
    mutating func resume() -> Bool {
        guard self.isWaiting, !self.isWatching else { return false }
        self.isWatching = true
        return true
    }
}
