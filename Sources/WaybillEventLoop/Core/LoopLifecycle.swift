internal import Synchronization

/// Where a loop is between its birth and its end, and who wants to know.
struct LoopLifecycle: ~Copyable {
    /// What a call has to do about a loop's thread.
    enum Attachment {
        /// Nobody ran the loop: the caller does now.
        case attached
        /// Somebody runs it.
        case running
        /// It is over.
        case closed
    }

    enum Stage {
        case idle, running, closed
    }

    struct State {
        var stage = Stage.idle
        var isHookTurnOver = false
        var waiters: [CheckedContinuation<Void, Never>] = []
        var hooks: [(id: UInt64, body: @Sendable () -> Void)] = []
        var nextHook: UInt64 = 0
    }

    private let state = Locked(State())
    private let requested = Atomic<Bool>(false)

    /// Whether the loop has been asked to shut down.
    var isRequested: Bool { self.requested.load(ordering: .relaxed) }

    /// Asks the loop to shut down.
    ///
    /// - Returns: Whether this was the first request.
    func request() -> Bool { !self.requested.exchange(true, ordering: .acquiringAndReleasing) }

    /// Whether every handle has been closed.
    var isClosed: Bool { self.state.withLock { $0.stage == .closed } }

    /// Makes the caller the one who runs the loop, if nobody does.
    func attach() -> Attachment {
        self.state.withLock { state in
            switch state.stage {
            case .idle:
                state.stage = .running
                return .attached
            case .running: return .running
            case .closed: return .closed
            }
        }
    }

    /// Marks the loop as over and wakes everybody who waited for that.
    func close() {
        let waiters = self.state.withLock { state in
            state.stage = .closed
            let waiters = state.waiters
            state.waiters = []
            return waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Resumes the waiter when the loop is over.
    func wait(_ waiter: CheckedContinuation<Void, Never>) {
        let isOver = self.state.withLock { state in
            if state.stage != .closed { state.waiters.append(waiter) }
            return state.stage == .closed
        }
        if isOver { waiter.resume() }
    }

    /// Adds a closure for the end.
    ///
    /// - Returns: What to remove it by, or nil if its time has passed.
    func addHook(_ body: @escaping @Sendable () -> Void) -> UInt64? {
        self.state.withLock { state in
            guard !state.isHookTurnOver else { return nil }
            state.nextHook += 1
            state.hooks.append((state.nextHook, body))
            return state.nextHook
        }
    }

    /// Forgets a closure that waits for the end.
    func removeHook(_ id: UInt64) {
        let removed = self.state.withLock { state -> (@Sendable () -> Void)? in
            guard let index = state.hooks.firstIndex(where: { $0.id == id }) else { return nil }
            return state.hooks.remove(at: index).body
        }
        // Let go of outside the lock: it may own something that comes back here.
        _ = consume removed
    }

    /// Takes the closures that wait for the end; there will be no more.
    func takeHooks() -> [@Sendable () -> Void] {
        self.state.withLock { state in
            state.isHookTurnOver = true
            let bodies = state.hooks.map(\.body)
            state.hooks = []
            return bodies
        }
    }
}
