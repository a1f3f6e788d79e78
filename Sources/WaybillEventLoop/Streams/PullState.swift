/// Decides when a descriptor is read or accepted from: only while a task waits for what comes.
///
/// What is not asked for stays in the system, whose buffers then fill up and stop the peer. A descriptor is
/// watched from the first wait on; if it becomes ready while no task waits, watching stops, and the next call
/// tries at once. So a task that is slower than its peer costs no poll at all.
struct PullState {
    /// What a call does.
    enum Call: Equatable {
        /// Try: there may be something.
        case pull
        /// Wait for the descriptor; `watch` says whether watching has to start.
        case wait(watch: Bool)
        /// Another task waits.
        case refuse
    }

    /// What an event of the descriptor leads to.
    enum Event: Equatable {
        /// Try, for the task that waits.
        case pull
        /// Stop watching: no task waits.
        case unwatch
    }

    private(set) var isWaiting = false
    /// Whether there may be something to take without waiting for an event.
    private(set) var isReady: Bool
    private(set) var isWatching = false

    /// - Parameter isReady: Whether the first call tries at once.
    init(isReady: Bool) { self.isReady = isReady }

    /// A task asks.
    mutating func call() -> Call {
        if self.isWaiting { return .refuse }
        if self.isReady { return .pull }
        self.isWaiting = true
        defer { self.isWatching = true }
        return .wait(watch: !self.isWatching)
    }

    /// The descriptor has become ready.
    mutating func becameReady() -> Event {
        if self.isWaiting { return .pull }
        self.isReady = true
        self.isWatching = false
        return .unwatch
    }

    /// Something was taken.
    ///
    /// - Parameter more: Whether there may be more.
    mutating func took(more: Bool) {
        self.isWaiting = false
        self.isReady = more
    }

    /// Nothing was there: the next call waits, and a task that waits goes on.
    mutating func tookNothing() { self.isReady = false }

    /// The task has stopped waiting.
    mutating func cancel() { self.isWaiting = false }

    /// Watching has stopped for a while, although a task may wait.
    mutating func pause() {
        self.isReady = false
        self.isWatching = false
    }

    /// The pause is over.
    ///
    /// - Returns: Whether watching has to start again, for a task that waits.
    mutating func resume() -> Bool {
        guard self.isWaiting, !self.isWatching else { return false }
        self.isWatching = true
        return true
    }
}
