internal import CLibUV
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

    /// Ends the loop's claim on its thread; what has not run by now runs elsewhere.
    func leave(restoring outer: Unmanaged<LoopCore>?) {
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

    /// libuv is about to poll: run what there is, then let it block or not.
    func beforePoll() {
        unsafe self.state.pointee.isTurning = true
        self.turn()
        let hasSpun = self.spinWhileIdle()
        self.armTimer()
        if !hasSpun, unsafe self.state.pointee.ready.isEmpty { self.fallAsleep() }
        if unsafe self.state.pointee.parkedAt == nil {
            self.keepFromBlocking()
        } else {
            unsafe self.state.pointee.handles?.idle.stop()
        }
        unsafe self.state.pointee.isTurning = false
    }

    /// libuv has polled: the budget is full again.
    func afterPoll() {
        unsafe self.state.pointee.isTurning = true
        let now = MonotonicTime.now
        if let parkedAt = unsafe self.state.pointee.parkedAt {
            unsafe self.state.pointee.parkedAt = nil
            self.counters.unpark(since: parkedAt, at: now)
            self.takeInbox()
        }
        unsafe self.state.pointee.polledAt = now
        unsafe self.state.pointee.budget.refill(at: now)
        self.turn()
        unsafe self.state.pointee.isTurning = false
    }

    /// Parks, unless work has arrived.
    private func fallAsleep() {
        guard unsafe self.state.pointee.handles != nil, unsafe self.state.pointee.ready.isEmpty,
            self.inbox.park()
        else { return }
        let now = MonotonicTime.now
        unsafe self.state.pointee.parkedAt = now
        self.counters.park(at: now)
    }

    /// Runs work until there is none or the budget is used up.
    private func turn() {
        if self.inbox.hasWork { self.takeInbox() }
        guard unsafe !self.state.pointee.ready.isEmpty else { return }
        self.counters.isBusy.store(true, ordering: .relaxed)
        while unsafe self.state.pointee.budget.consume(at: { MonotonicTime.now }) {
            if let item = unsafe self.state.pointee.ready.pop() {
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

    /// Runs one item.
    func run(_ item: WorkItem) {
        LoopCounters.increment(self.counters.pops)
        LoopCounters.increment(self.counters.runs)
        switch item.kind {
        case .closure:
            item.takeBody()()
        case .actorJob:
            // With no task executor in play the runtime goes straight on from one actor of this loop to the next.
            guard let reference = unsafe self.state.pointee.reference else { return }
            unsafe item.job.runSynchronously(on: reference.executor)
        case .taskJob:
            guard let loop = self.loop else { preconditionFailure("a task outlived its executor") }
            unsafe item.job.runSynchronously(
                isolatedTo: loop.asUnownedSerialExecutor(),
                taskExecutor: loop.taskExecutor.asUnownedTaskExecutor()
            )
        }
    }

    /// Looks for work without blocking, for as long as the idle policy says.
    ///
    /// - Returns: Whether to go on looking after a poll that does not block.
    private func spinWhileIdle() -> Bool {
        guard self.spin > 0, unsafe self.state.pointee.handles != nil else { return false }
        var idleSince = MonotonicTime.now
        var now = idleSince
        var isDueToPoll = false
        while unsafe self.state.pointee.ready.isEmpty, now < self.endOfSpin {
            isDueToPoll = unsafe now - self.state.pointee.polledAt >= self.state.pointee.budget.slice
            if isDueToPoll { break }
            if self.looksForWork() {
                self.counters.addIdle(from: idleSince, to: now)
                self.turn()
                idleSince = unsafe self.state.pointee.workedAt
            }
            now = MonotonicTime.now
        }
        self.counters.addIdle(from: idleSince, to: now)
        return isDueToPoll
    }

    /// When the loop gives up looking: a while after the last work, and in time for the next timer.
    private var endOfSpin: Int64 {
        unsafe min(self.state.pointee.workedAt + self.spin, self.state.pointee.timers.nextDeadline ?? .max)
    }

    /// Looks at the inbox for about a microsecond.
    ///
    /// Then it lets another thread have the core, if one waits for it: that may be the very thread with the answer, and
    /// without this it would come on only after the loop had spun to the end.
    private func looksForWork() -> Bool {
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
