internal import CLibUV
internal import Synchronization

extension LoopCore {
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
        guard unsafe self.state.pointee.ready.isEmpty, self.inbox.park() else { return }
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
        guard self.spin > 0 else { return false }
        let began = MonotonicTime.now
        var now = began
        while unsafe self.state.pointee.ready.isEmpty {
            let end = unsafe min(
                self.state.pointee.workedAt + self.spin,
                self.state.pointee.timers.nextDeadline ?? .max
            )
            if now >= end || self.lifecycle.isClosed { break }
            if unsafe now - self.state.pointee.polledAt >= self.state.pointee.budget.slice {
                self.counters.addIdle(from: began, to: now)
                return true
            }
            for _ in 0..<32 {
                if self.inbox.hasWork {
                    self.turn()
                    break
                }
                waybill_spin_hint()
            }
            now = MonotonicTime.now
        }
        self.counters.addIdle(from: began, to: now)
        return false
    }

    func takeInbox() {
        unsafe self.state.pointee.ready.append(self.inbox.take())
    }
}
