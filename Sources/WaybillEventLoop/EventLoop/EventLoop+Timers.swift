internal import Synchronization

extension EventLoop {
    /// A clock whose sleepers wait on this loop's timer.
    public var clock: EventLoopClock { EventLoopClock(eventLoop: self) }

    /// The time that the loop's timers and the buses on it read.
    package var time: TimeSource { self.core.configuration.time }

    /// Runs a closure on the loop at an instant, without a task.
    ///
    /// May be called from any thread; on the loop's own it takes no lock. The closure runs up to a
    /// millisecond late, never early, and not at all if the loop shuts down before. A timer does not keep its
    /// loop.
    ///
    /// - Parameters:
    ///   - deadline: When to run; in the past means in the loop's next iteration.
    ///   - body: What to run on the loop's thread.
    /// - Returns: What cancels it; may be dropped.
    @discardableResult
    package func schedule(at deadline: Deadline, _ body: @escaping @Sendable () -> Void) -> ScheduledTimer {
        let timer = ScheduledTimer(core: self.core)
        self.core.schedule(timer, .body(body), at: deadline.nanoseconds)
        return timer
    }

    /// The same at an instant.
    @discardableResult
    package func schedule(
        at instant: ContinuousClock.Instant,
        _ body: @escaping @Sendable () -> Void
    ) -> ScheduledTimer {
        self.schedule(at: Deadline(instant), body)
    }

    /// Runs a closure on the loop at an instant, or when the loop shuts down if that comes first.
    ///
    /// For closures that must run also when the loop shuts down; otherwise the same as ``schedule(at:_:)``.
    ///
    /// - Parameters:
    ///   - deadline: When to run; in the past means in the loop's next iteration.
    ///   - body: What to run on the loop's thread; its argument says why it runs.
    /// - Returns: What cancels it; may be dropped.
    @discardableResult
    package func schedule(
        at deadline: Deadline,
        orAtShutDown body: @escaping @Sendable (ScheduledTimer.Event) -> Void
    ) -> ScheduledTimer {
        let timer = ScheduledTimer(core: self.core)
        self.core.schedule(timer, .observer(body), at: deadline.nanoseconds)
        return timer
    }
}

extension LoopCore {
    /// The most timers that fire between two polls.
    private static var timersPerPoll: Int { 1024 }

    /// Starts a timer, from any thread.
    func schedule(_ timer: ScheduledTimer, _ payload: TimerPayload, at deadline: Int64) {
        if self.isOnThread {
            timer.start(payload, at: deadline)
        } else {
            self.submit(WorkItem { timer.start(payload, at: deadline) })
        }
    }

    /// Adds a timer, on the loop's thread.
    ///
    /// The libuv timer is armed later, once for all changes, when the loop is about to poll.
    ///
    /// - Returns: The timer's key, or nil if the loop has shut down.
    func insertTimer(_ payload: TimerPayload, at deadline: Int64) -> TimerHeap<TimerPayload>.Key? {
        guard unsafe self.state.pointee.handles != nil else { return nil }
        let key = unsafe self.state.pointee.timers.insert(payload, at: deadline)
        self.timersChanged()
        return key
    }

    /// Removes a timer, on the loop's thread.
    func removeTimer(_ key: TimerHeap<TimerPayload>.Key) -> TimerPayload? {
        let payload = unsafe self.state.pointee.timers.remove(key)
        self.timersChanged()
        return payload
    }

    private func timersChanged() {
        self.counters.timers.store(unsafe self.state.pointee.timers.count, ordering: .relaxed)
        if unsafe !self.state.pointee.isInCallback { self.keepFromBlocking() }
        // A test that advances the time by hand does not wait for the loop to poll.
        if self.configuration.time.manual != nil { self.armTimer() }
    }

    /// Arms the libuv timer for the earliest deadline.
    func armTimer() {
        guard unsafe self.state.pointee.timers.nextDeadline != self.state.pointee.armedDeadline else {
            return
        }
        let deadline = unsafe self.state.pointee.timers.nextDeadline
        unsafe self.state.pointee.armedDeadline = deadline
        if let time = self.configuration.time.manual { return self.setAlarm(at: deadline, by: time) }
        if let deadline {
            // Saturating: the far future must not wrap into the past.
            let (delay, overflow) = deadline.subtractingReportingOverflow(MonotonicTime.now)
            unsafe self.state.pointee.handles?.timer.start(after: overflow ? .max : delay)
        } else {
            unsafe self.state.pointee.handles?.timer.stop()
        }
    }

    /// Arms an alarm in place of the libuv timer, where the time is advanced by hand; it fires the timers as
    /// queued work.
    private func setAlarm(at deadline: Int64?, by time: ManualTime) {
        unsafe self.state.pointee.alarm.take()?.cancel()
        guard let deadline else { return }
        let alarm = time.schedule(at: Deadline(nanoseconds: deadline)) { [weak self] in
            guard let core = self else { return }
            core.submit(WorkItem { core.fireTimersAsWork() })
        }
        unsafe self.state.pointee.alarm = alarm
    }

    private func fireTimersAsWork() {
        guard unsafe self.state.pointee.handles != nil else { return }
        self.fireTimers()
        unsafe self.state.pointee.isInCallback = true
        self.counters.isBusy.store(true, ordering: .relaxed)
    }

    /// Fires the timers that are due; timers that their closures add wait for the loop's next iteration.
    func fireTimers() {
        unsafe self.state.pointee.isInCallback = true
        unsafe self.state.pointee.armedDeadline = nil
        self.counters.isBusy.store(true, ordering: .relaxed)
        let now = self.configuration.time.now
        for _ in 0..<Self.timersPerPoll {
            guard let payload = unsafe self.state.pointee.timers.popDue(at: now) else { break }
            LoopCounters.increment(self.counters.runs)
            payload.fire()
        }
        self.timersChanged()
        self.counters.isBusy.store(false, ordering: .relaxed)
        unsafe self.state.pointee.isInCallback = false
    }
}
