internal import CLibUV
internal import Synchronization

extension LoopCore {
    /// Runs the loop until it has shut down, on a thread that the caller has attached to the lifecycle.
    func runToTheEnd() {
        let outer = self.enter()
        self.uv.run()
        self.uv.close()
        self.leave(restoring: outer)
    }

    /// Makes the calling thread the loop's thread, and returns the loop that ``leave(restoring:)`` restores.
    @discardableResult
    func enter() -> CurrentLoop.Outer {
        let outer = CurrentLoop.enter(self)
        let now = MonotonicTime.now
        unsafe self.state.pointee.polledAt = now
        unsafe self.state.pointee.budget.refill(at: now)
        self.thread.store(ThreadID.current, ordering: .relaxed)
        if let threshold = self.configuration.watchdogThreshold {
            Watchdog.shared.add(self, threshold: threshold)
        }
        return outer
    }

    /// Detaches the loop from its thread, and moves the work that has not run to the post-shutdown queue.
    func leave(restoring outer: CurrentLoop.Outer) {
        var rest = unsafe self.state.pointee.ready
        unsafe self.state.pointee.ready = WorkList()
        // From here on the loop has no thread, so other threads push all work to the inbox.
        self.thread.store(ThreadID.none, ordering: .relaxed)
        CurrentLoop.leave(restoring: outer)
        Watchdog.shared.remove(self)
        // A thread that finds the inbox closed appends its work to the same queue, after this work.
        self.submitAfterShutdown {
            rest.append(self.inbox.close())
            return rest
        }
        self.lifecycle.close()
    }

    /// Runs a callback of a hosted loop with this loop as the current loop of the thread.
    ///
    /// A host's thread can run several loops, and a callback of one loop can dispatch another loop.
    func whileCurrent(_ callback: () -> Void) {
        let outer = CurrentLoop.core
        if outer === self { return callback() }
        CurrentLoop.enter(self)
        callback()
        // The callback may have closed the outer loop.
        if let outer, outer.isOnThread {
            CurrentLoop.enter(outer)
        } else {
            CurrentLoop.leave(restoring: .none)
        }
    }

    /// Runs queued work before libuv polls, then decides whether the poll may block.
    func beforePoll() {
        unsafe self.state.pointee.isInCallback = true
        if self.host == .adopted { self.unpark(at: MonotonicTime.now) }
        self.runReadyWork()
        let hasSpun = self.spinWhileIdle()
        self.forgetLateTimer()
        self.armTimer()
        if !hasSpun, unsafe self.state.pointee.ready.isEmpty { self.parkIfIdle() }
        if unsafe self.state.pointee.parkedAt == nil {
            self.keepFromBlocking()
        } else {
            unsafe self.state.pointee.handles?.idle.stop()
        }
        unsafe self.state.pointee.isInCallback = false
    }

    /// Refills the budget after libuv has polled, and runs the work that has arrived.
    func afterPoll() {
        unsafe self.state.pointee.isInCallback = true
        let now = MonotonicTime.now
        self.unpark(at: now)
        unsafe self.state.pointee.polledAt = now
        unsafe self.state.pointee.budget.refill(at: now)
        self.runReadyWork()
        if self.host == .adopted {
            self.keepHostRunning()
            // A host may wait for the descriptor of its loop outside of libuv, where only a parked loop is
            // woken up.
            self.parkIfIdle()
            if unsafe self.state.pointee.parkedAt == nil { self.keepFromBlocking() }
        }
        unsafe self.state.pointee.isInCallback = false
    }

    /// Arms the timer and the idle handle before libuv decides whether to continue.
    ///
    /// A host's loop continues to run only while it has active handles.
    func keepHostRunning() {
        self.armTimer()
        if unsafe !self.state.pointee.ready.isEmpty { self.keepFromBlocking() }
    }

    /// Moves the work that has arrived while the loop was parked to the ready list.
    func unpark(at now: Int64) {
        guard let parkedAt = unsafe self.state.pointee.parkedAt else { return }
        unsafe self.state.pointee.parkedAt = nil
        self.counters.unpark(since: parkedAt, at: now)
        self.takeInbox()
    }

    /// Parks the loop unless it has work.
    func parkIfIdle() {
        guard unsafe self.state.pointee.handles != nil, unsafe self.state.pointee.ready.isEmpty,
            self.inbox.park()
        else { return }
        let now = MonotonicTime.now
        unsafe self.state.pointee.parkedAt = now
        self.counters.park(at: now)
    }

    /// Runs work until none is left or the budget is used up.
    private func runReadyWork() {
        if self.inbox.hasWork { self.takeInbox() }
        guard unsafe !self.state.pointee.ready.isEmpty else { return }
        self.counters.isBusy.store(true, ordering: .relaxed)
        while unsafe self.state.pointee.budget.consume(at: { MonotonicTime.now }) {
            if let item = unsafe self.state.pointee.ready.pop() {
                LoopCounters.increment(self.counters.pops)
                self.run(item)
            } else if self.inbox.hasWork {
                self.takeInbox()
            } else {
                break
            }
        }
        self.counters.isBusy.store(false, ordering: .relaxed)
        if self.spin > 0 { unsafe self.state.pointee.workedAt = MonotonicTime.now }
    }

    /// Runs one item, whether or not the item has been queued.
    func run(_ item: WorkItem) {
        LoopCounters.increment(self.counters.runs)
        switch item.kind {
        case .closure:
            item.takeBody()()
        case .actorJob:
            // Without a task executor, the runtime continues from one actor of this loop to the next without
            // enqueuing a job.
            guard let reference = unsafe self.state.pointee.reference else { return }
            unsafe item.job.runSynchronously(on: reference.executor)
        case .taskJob:
            guard let loop = self.loop else {
                preconditionFailure("internal error: a job was run after its event loop was released")
            }
            unsafe item.job.runSynchronously(
                isolatedTo: loop.asUnownedSerialExecutor(),
                taskExecutor: loop.taskExecutor.asUnownedTaskExecutor()
            )
        }
    }

    /// Polls the inbox while the idle policy allows; returns whether to spin again after a nonblocking poll.
    private func spinWhileIdle() -> Bool {
        guard self.spin > 0, unsafe self.state.pointee.handles != nil else { return false }
        var idleSince = MonotonicTime.now
        var now = idleSince
        var isDueToPoll = false
        while unsafe self.state.pointee.ready.isEmpty, now < self.endOfSpin {
            isDueToPoll = unsafe now - self.state.pointee.polledAt >= self.state.pointee.budget.slice
            if isDueToPoll { break }
            if self.pollInbox() {
                self.counters.addIdle(from: idleSince, to: now)
                self.runReadyWork()
                idleSince = unsafe self.state.pointee.workedAt
            }
            now = MonotonicTime.now
        }
        self.counters.addIdle(from: idleSince, to: now)
        return isDueToPoll
    }

    /// The time at which the loop stops spinning.
    private var endOfSpin: Int64 {
        unsafe min(self.state.pointee.workedAt + self.spin, self.state.pointee.timers.nextDeadline ?? .max)
    }

    /// Polls the inbox for about a microsecond, then yields the processor core.
    ///
    /// The thread that is about to push may be waiting for the processor core of this thread. Without the
    /// yield, the system would schedule that thread only after the loop had stopped spinning.
    private func pollInbox() -> Bool {
        for _ in 0..<32 {
            if self.inbox.hasWork { return true }
            waybill_spin_hint()
        }
        waybill_yield_core()
        return self.inbox.hasWork
    }

    func takeInbox() {
        unsafe self.state.pointee.ready.append(self.inbox.take())
    }
}
