internal import Synchronization

extension EventLoop {
    /// A clock whose sleepers wait on this loop's timer.
    public var clock: EventLoopClock { EventLoopClock(eventLoop: self) }

    /// The source of the time for the loop's timers and for the buses on the loop.
    package var time: TimeSource { self.core.configuration.time }

    /// Whether a simulation runs the loop, and advances its time.
    var isSimulated: Bool { self.core.host == .simulated }

    /// Schedules a closure to run on the loop at a deadline, without a task.
    ///
    /// May be called from any thread; on the loop's thread the call takes no lock. The closure runs up to a
    /// millisecond late and never early. If the loop shuts down before the deadline, the closure does not
    /// run. A timer does not keep its loop alive.
    ///
    /// - Parameters:
    ///   - deadline: The time to run; a time in the past means the loop's next iteration.
    ///   - body: The closure to run on the loop's thread.
    /// - Returns: The timer, which can be cancelled; dropping it does not cancel it.
    @discardableResult
    package func schedule(at deadline: Deadline, _ body: @escaping @Sendable () -> Void) -> ScheduledTimer {
        let timer = ScheduledTimer(core: self.core)
        self.core.schedule(timer, .body(body), at: deadline.nanoseconds)
        return timer
    }

    /// Schedules a closure to run on the loop at an instant of the continuous clock, without a task.
    @discardableResult
    package func schedule(
        at instant: ContinuousClock.Instant,
        _ body: @escaping @Sendable () -> Void
    ) -> ScheduledTimer {
        self.schedule(at: Deadline(instant), body)
    }

    /// Schedules a closure to run on the loop at a deadline, or earlier when the loop shuts down.
    ///
    /// Use this method for a closure that must run even if the loop shuts down first. In that case,
    /// ``schedule(at:_:)`` discards its closure. The two methods are otherwise equal.
    ///
    /// - Parameters:
    ///   - deadline: The time to run; a time in the past means the loop's next iteration.
    ///   - body: The closure to run on the loop's thread; its argument is the reason for the call.
    /// - Returns: The timer, which can be cancelled; dropping it does not cancel it.
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

    /// Adds a timer, on the loop's thread, and returns its key, or nil if the loop has shut down.
    ///
    /// The libuv timer is not armed here. It is armed once for all changes, when the loop is about to poll.
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
        // A test that advances the time by hand does not wait until the loop polls, so arm the timer now.
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
            // The subtraction saturates: a deadline in the far future must not wrap into the past.
            let (delay, overflow) = deadline.subtractingReportingOverflow(MonotonicTime.now)
            let limited = min(overflow ? .max : delay, Self.longestDelay)
            unsafe self.state.pointee.handles?.timer.start(after: limited)
        } else {
            unsafe self.state.pointee.handles?.timer.stop()
        }
    }

    /// Lets the loop arm its libuv timer again if the timer has not fired although the deadline has passed.
    ///
    /// The clock of libuv stands still while the machine is suspended, and the clock of deadlines does not.
    /// libuv fires timers after a poll, so only the time of the last poll shows that a timer is late.
    func forgetLateTimer() {
        let polledAt = unsafe self.state.pointee.polledAt
        guard self.configuration.time.manual == nil, let deadline = unsafe self.state.pointee.armedDeadline,
            deadline <= polledAt
        else { return }
        unsafe self.state.pointee.armedDeadline = nil
    }

    /// The longest delay of the libuv timer, in nanoseconds.
    ///
    /// After the machine was suspended, a loop on which nothing else happens is late by up to this delay.
    private static let longestDelay: Int64 = 60_000_000_000

    /// Arms an alarm instead of the libuv timer, for a loop whose time is advanced by hand.
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

    /// Fires the timers that are due.
    ///
    /// If a closure adds a timer that is due at once, the timer waits for the loop's next iteration.
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
        // libuv may call this method after its last poll of an iteration, and then decide whether to
        // continue.
        if self.host == .adopted { self.keepHostRunning() }
        unsafe self.state.pointee.isInCallback = false
    }
}
