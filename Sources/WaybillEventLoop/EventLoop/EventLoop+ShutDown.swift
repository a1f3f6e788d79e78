internal import Synchronization

extension EventLoop {
    /// Whether the loop has been asked to shut down.
    public var isShutDown: Bool { self.core.lifecycle.isRequested }

    /// Shuts the loop down and waits until every handle is closed.
    ///
    /// Tasks that sleep on the loop's clock or wait for a signal fail with an ``EventLoopError`` whose code
    /// is `shutDown`. Jobs that are left or arrive later still run, so no task hangs. A new thread runs these
    /// jobs one at a time, with ``isInEventLoop`` true.
    ///
    /// The system cannot stop the lookup of a host name that has begun. The loop then closes, and the jobs
    /// that are left run, only after the lookup, which can take some seconds if no name server answers.
    ///
    /// This method may be called from any context, including the loop itself, and more than once. For a loop
    /// from ``adopting(_:name:configuration:)``, the method returns only after the host has run its own loop.
    public func shutDown() async {
        await Self.yieldIfDue()
        self.beginShutDown()
        await withCheckedContinuation { self.core.lifecycle.wait($0) }
    }

    /// Requests the loop to shut down, without waiting; see ``shutDown()``.
    public func beginShutDown() { self.core.requestShutDown() }

    /// Registers a closure that runs when the loop begins to shut down.
    ///
    /// Use the closure to fail the operations that wait on the loop.
    ///
    /// The closure runs once, on the loop's thread, before the handles close. If the shutdown has begun
    /// already, the closure is enqueued at once.
    ///
    /// - Returns: The registration, which can be cancelled.
    @discardableResult
    package func onShutDown(_ body: @escaping @Sendable () -> Void) -> ShutDownHook {
        let id = self.core.lifecycle.addHook(body)
        if id == nil { self.execute(body) }
        return ShutDownHook(core: self.core, id: id)
    }
}

/// A registration of a closure that runs when a loop begins to shut down.
package struct ShutDownHook: Sendable {
    let core: LoopCore
    let id: UInt64?

    /// Removes the closure, unless it has run.
    package func cancel() {
        if let id = self.id { self.core.lifecycle.removeHook(id) }
    }
}

/// The stage in the life of a loop, the loop's shutdown hooks, and the callers that wait until the loop is
/// closed.
struct LoopLifecycle: ~Copyable {
    /// The result of an attempt to attach a thread to a loop.
    enum Attachment {
        /// No thread ran the loop; the calling thread is attached now.
        case attached
        /// Another thread runs the loop.
        case running
        /// The loop has shut down.
        case closed
    }

    enum Stage {
        case idle, running, closed
    }

    struct State {
        var stage = Stage.idle
        var haveHooksRun = false
        var waiters: [CheckedContinuation<Void, Never>] = []
        var endings: [@Sendable () -> Void] = []
        var hooks: [(id: UInt64, body: @Sendable () -> Void)] = []
        var nextHook: UInt64 = 0
    }

    private let state = Locked(State())
    private let requested = Atomic<Bool>(false)

    /// Whether the loop has been asked to shut down.
    var isRequested: Bool { self.requested.load(ordering: .relaxed) }

    /// Requests a shutdown, and returns whether this was the first request.
    func request() -> Bool { !self.requested.exchange(true, ordering: .acquiringAndReleasing) }

    /// Whether every handle has been closed.
    var isClosed: Bool { self.state.withLock { $0.stage == .closed } }

    /// Attaches the calling thread to the loop, unless another thread runs it.
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

    /// Marks the loop as closed, resumes the callers of ``wait(_:)``, and runs the closures of
    /// ``onClosed(_:)``.
    func close() {
        let (waiters, endings) = self.state.withLock { state in
            state.stage = .closed
            defer { (state.waiters, state.endings) = ([], []) }
            return (state.waiters, state.endings)
        }
        for waiter in waiters { waiter.resume() }
        for ending in endings { ending() }
    }

    /// Registers a closure that ``close()`` runs, or runs the closure at once if the loop is closed already.
    func onClosed(_ body: @escaping @Sendable () -> Void) {
        let isClosed = self.state.withLock { state in
            if state.stage != .closed { state.endings.append(body) }
            return state.stage == .closed
        }
        if isClosed { body() }
    }

    /// Resumes `waiter` when the loop is closed, or at once if the loop is closed already.
    func wait(_ waiter: CheckedContinuation<Void, Never>) {
        let isClosed = self.state.withLock { state in
            if state.stage != .closed { state.waiters.append(waiter) }
            return state.stage == .closed
        }
        if isClosed { waiter.resume() }
    }

    /// Adds a shutdown hook and returns its ID, or nil if the shutdown has begun.
    func addHook(_ body: @escaping @Sendable () -> Void) -> UInt64? {
        self.state.withLock { state in
            guard !state.haveHooksRun else { return nil }
            state.nextHook += 1
            state.hooks.append((state.nextHook, body))
            return state.nextHook
        }
    }

    /// Removes a closure that has not run.
    func removeHook(_ id: UInt64) {
        _ = self.state.withLock { state -> (@Sendable () -> Void)? in
            guard let index = state.hooks.firstIndex(where: { $0.id == id }) else { return nil }
            return state.hooks.remove(at: index).body
        }
    }

    /// Removes and returns all closures; from then on, ``addHook(_:)`` rejects closures.
    func takeHooks() -> [@Sendable () -> Void] {
        self.state.withLock { state in
            state.haveHooksRun = true
            let bodies = state.hooks.map(\.body)
            state.hooks = []
            return bodies
        }
    }
}

extension LoopCore {
    /// Requests the loop to shut down, from any thread.
    func requestShutDown() {
        guard self.lifecycle.request() else { return }
        self.submit(WorkItem { self.beginClosing() })
        // A loop that was never run has no thread to close its handles.
        if self.host == .caller, self.lifecycle.attach() == .attached { self.runToTheEnd() }
    }

    /// Runs the shutdown hooks, fails timers and signal sequences, and closes every handle, on the loop's
    /// thread.
    private func beginClosing() {
        for hook in self.lifecycle.takeHooks() { hook() }
        guard let handles = unsafe self.state.pointee.handles.take() else { return }
        let payloads = unsafe self.state.pointee.timers.removeAll()
        unsafe self.state.pointee.alarm.take()?.cancel()
        self.counters.timers.store(0, ordering: .relaxed)
        for payload in payloads { payload.abandon(by: self) }
        self.endSubscriptions()
        self.endStreams()
        self.endMainQueue()
        unsafe self.state.pointee.openHandles += LoopHandles.count + 1
        handles.close { self.handleClosed() }
        self.wakeUp.close { self.handleClosed() }
    }

    /// Counts a handle whose close callback has run.
    func handleClosed() {
        unsafe self.state.pointee.openHandles -= 1
        // A host continues to run its own `uv_loop_t` after these handles are closed, so the core detaches
        // from the thread here. If the loop has its own `uv_run`, that call returns after the last handle is
        // closed.
        guard self.isHosted, unsafe self.state.pointee.openHandles == 0,
            unsafe self.state.pointee.handles == nil
        else { return }
        self.leave(restoring: .current(except: self))
    }
}
