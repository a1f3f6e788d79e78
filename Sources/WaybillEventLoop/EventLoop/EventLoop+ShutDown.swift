internal import Synchronization

extension EventLoop {
    /// Whether the loop has been asked to shut down, by whatever way.
    public var isShutDown: Bool { self.core.lifecycle.isRequested }

    /// Shuts the loop down and waits until every handle is closed.
    ///
    /// Whoever sleeps on the loop's clock or waits for a signal gets an ``EventLoopError`` with the code `shutDown`. Jobs
    /// still run, on a thread that is started for them, one at a time and with ``isInEventLoop`` true: no task hangs.
    ///
    /// May be called from any context, the loop itself included, and as often as wanted. For an adopted loop it returns
    /// once the host has run its loop.
    public func shutDown() async {
        await Self.yieldIfDue()
        self.beginShutDown()
        await withCheckedContinuation { self.core.lifecycle.wait($0) }
    }

    /// Asks the loop to shut down and does not wait; see ``shutDown()``.
    public func beginShutDown() { self.core.requestShutDown() }

    /// Has a closure run when the loop begins to shut down, to fail what waits on it.
    ///
    /// It runs once, on the loop's thread, before the handles close; if the loop has begun already it runs as soon as
    /// it can.
    ///
    /// - Returns: What takes it back.
    @discardableResult
    package func onShutDown(_ body: @escaping @Sendable () -> Void) -> ShutDownHook {
        let id = self.core.lifecycle.addHook(body)
        if id == nil { self.execute(body) }
        return ShutDownHook(core: self.core, id: id)
    }
}

/// A closure that waits for a loop's end.
package struct ShutDownHook: Sendable {
    let core: LoopCore
    let id: UInt64?

    /// Forgets the closure, unless its time has come.
    package func cancel() {
        if let id = self.id { self.core.lifecycle.removeHook(id) }
    }
}

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

extension LoopCore {
    /// Asks the loop to shut down, from any thread.
    func requestShutDown() {
        guard self.lifecycle.request() else { return }
        self.submit(WorkItem { self.beginClosing() })
        // A loop that nobody has run yet has no thread to do it.
        if self.host == .caller, self.lifecycle.attach() == .attached { self.runToTheEnd() }
    }

    /// Tells everybody who waits, and closes every handle; on the loop's thread.
    private func beginClosing() {
        for hook in self.lifecycle.takeHooks() { hook() }
        guard let handles = unsafe self.state.pointee.handles.take() else { return }
        let payloads = unsafe self.state.pointee.timers.removeAll()
        unsafe self.state.pointee.alarm.take()?.cancel()
        self.counters.timers.store(0, ordering: .relaxed)
        for payload in payloads { payload.abandon(by: self) }
        self.endSubscriptions()
        unsafe self.state.pointee.openHandles += LoopHandles.count + 1
        handles.close { self.handleClosed() }
        self.wakeUp.close { self.handleClosed() }
    }

    /// A handle has gone.
    func handleClosed() {
        unsafe self.state.pointee.openHandles -= 1
        // The host goes on running its loop; ours ends by itself when its last handle has gone.
        guard self.host == .adopted, unsafe self.state.pointee.openHandles == 0,
            unsafe self.state.pointee.handles == nil
        else { return }
        unsafe self.leave(restoring: nil)
    }
}
