internal import Synchronization

extension LoopCore {
    /// Runs the loop on the calling thread until it has shut down.
    ///
    /// The caller must have attached itself to the lifecycle.
    func runToTheEnd() {
        let outer = unsafe CurrentLoop.core
        self.enter()
        self.uv.run()
        self.uv.close()
        unsafe self.leave(restoring: outer)
    }

    /// Makes the calling thread the loop's.
    func enter() {
        unsafe CurrentLoop.core = Unmanaged.passUnretained(self)
        let now = MonotonicTime.now
        unsafe self.state.pointee.polledAt = now
        unsafe self.state.pointee.budget.refill(at: now)
        self.thread.store(ThreadID.current, ordering: .relaxed)
        if let threshold = self.configuration.watchdogThreshold {
            Watchdog.shared.add(self, threshold: threshold)
        }
    }

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

    /// Ends the loop's claim on its thread; what has not run by now runs elsewhere.
    private func leave(restoring outer: Unmanaged<LoopCore>?) {
        var rest = unsafe self.state.pointee.ready
        unsafe self.state.pointee.ready = WorkList()
        // From here on nobody is on the loop's thread, so whoever submits meets the inbox.
        self.thread.store(ThreadID.none, ordering: .relaxed)
        unsafe CurrentLoop.core = outer
        rest.append(self.inbox.close())
        Watchdog.shared.remove(self)
        self.leaveToAfterlife(rest)
        self.lifecycle.close()
    }
}
