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

    /// Detaches the loop from its thread; work that has not run by now goes to the post-shutdown queue.
    func leave(restoring outer: Unmanaged<LoopCore>?) {
        var rest = unsafe self.state.pointee.ready
        unsafe self.state.pointee.ready = WorkList()
        // From here on no thread is the loop's, so every submission goes through the inbox.
        self.thread.store(ThreadID.none, ordering: .relaxed)
        unsafe CurrentLoop.core = outer
        rest.append(self.inbox.close())
        Watchdog.shared.remove(self)
        self.submitAfterShutdown(rest)
        self.lifecycle.close()
    }

    /// libuv is about to poll: run what is queued, then decide whether the poll may block.
    func beforePoll() {
        unsafe self.state.pointee.isInCallback = true
        self.runReadyWork()
        let hasSpun = self.spinWhileIdle()
        self.armTimer()
        if !hasSpun, unsafe self.state.pointee.ready.isEmpty { self.parkIfIdle() }
        if unsafe self.state.pointee.parkedAt == nil {
            self.keepFromBlocking()
        } else {
            unsafe self.state.pointee.handles?.idle.stop()
        }
        unsafe self.state.pointee.isInCallback = false
    }

    /// libuv has polled: refill the budget and run what has arrived.
    func afterPoll() {
        unsafe self.state.pointee.isInCallback = true
        let now = MonotonicTime.now
        self.unpark(at: now)
        unsafe self.state.pointee.polledAt = now
        unsafe self.state.pointee.budget.refill(at: now)
        self.runReadyWork()
        if self.host == .adopted { self.keepHostRunning() }
        unsafe self.state.pointee.isInCallback = false
    }

    /// Shows libuv what is still to do, before it decides whether to go on: only that keeps a host's loop.
    private func keepHostRunning() {
        self.armTimer()
        if unsafe !self.state.pointee.ready.isEmpty { self.keepFromBlocking() }
    }

    /// Takes what has arrived while the loop was parked, if it was.
    func unpark(at now: Int64) {
        guard let parkedAt = unsafe self.state.pointee.parkedAt else { return }
        unsafe self.state.pointee.parkedAt = nil
        self.counters.unpark(since: parkedAt, at: now)
        self.takeInbox()
    }

    /// Parks, unless work has arrived.
    func parkIfIdle() {
        guard unsafe self.state.pointee.handles != nil, unsafe self.state.pointee.ready.isEmpty,
            self.inbox.park()
        else { return }
        let now = MonotonicTime.now
        unsafe self.state.pointee.parkedAt = now
        self.counters.park(at: now)
    }

    /// Runs work until there is none or the budget is used up.
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

    /// Runs one item, which may not have been queued.
    func run(_ item: WorkItem) {
        LoopCounters.increment(self.counters.runs)
        switch item.kind {
        case .closure:
            item.takeBody()()
        case .actorJob:
            // Without a task executor the runtime continues from one actor of this loop to the next without
            // queuing.
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

    /// Polls the inbox without blocking, for as long as the idle policy says.
    ///
    /// - Returns: Whether to spin again after a poll that does not block.
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

    /// When the loop stops spinning: a while after the last work, and in time for the next timer.
    private var endOfSpin: Int64 {
        unsafe min(self.state.pointee.workedAt + self.spin, self.state.pointee.timers.nextDeadline ?? .max)
    }

    /// Polls the inbox for about a microsecond, then yields the processor core.
    ///
    /// The thread that is about to push may wait for this very core, and without the yield it would be
    /// scheduled only after the loop had stopped spinning.
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
