internal import Synchronization

extension LoopCore {
    /// The most timers that fire between two polls.
    private static var timersPerTurn: Int { 1024 }

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
        if unsafe !self.state.pointee.isTurning { self.keepFromBlocking() }
        // Who advances the time by hand does not wait for the loop to poll.
        if self.configuration.time.manual != nil { self.armTimer() }
    }

    /// Has the libuv timer fire at the earliest deadline.
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

    /// The same where the time is advanced by hand: the alarm has the timers fire among the loop's work.
    private func setAlarm(at deadline: Int64?, by time: ManualTime) {
        unsafe self.state.pointee.alarm.take()?.cancel()
        guard let deadline else { return }
        let alarm = time.schedule(at: Deadline(nanoseconds: deadline)) { [weak self] in
            guard let core = self else { return }
            core.submit(WorkItem { core.fireTimersAmongWork() })
        }
        unsafe self.state.pointee.alarm = alarm
    }

    private func fireTimersAmongWork() {
        guard unsafe self.state.pointee.handles != nil else { return }
        self.fireTimers()
        unsafe self.state.pointee.isTurning = true
        self.counters.isBusy.store(true, ordering: .relaxed)
    }

    /// Fires what is due by now; what the closures add waits for the next turn.
    func fireTimers() {
        unsafe self.state.pointee.isTurning = true
        unsafe self.state.pointee.armedDeadline = nil
        self.counters.isBusy.store(true, ordering: .relaxed)
        let now = self.configuration.time.now
        for _ in 0..<Self.timersPerTurn {
            guard let payload = unsafe self.state.pointee.timers.popDue(at: now) else { break }
            LoopCounters.increment(self.counters.runs)
            payload.fire()
        }
        self.timersChanged()
        self.counters.isBusy.store(false, ordering: .relaxed)
        unsafe self.state.pointee.isTurning = false
    }
}
