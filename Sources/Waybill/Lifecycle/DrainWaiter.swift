internal import Synchronization
internal import WaybillEventLoop

/// Code that waits until the messages in flight have an outcome.
///
/// The waiters are the callers of ``MessageBus/shutDown(drainingUntil:)``, and the end of the sequences of
/// dead letters. Only a bus that is shutting down checks the waiters.
struct DrainWaiter: Sendable {
    /// Whether the waiter does not wait for exchanges that are exempt from draining.
    let ignoresExempt: Bool
    let resume: @Sendable () -> Void
}

extension BusCore {
    /// Resumes the waiters whose condition is met.
    ///
    /// The bus calls this method after it has counted the outcome of a message, unless the bus is open.
    @inline(never)
    func noteEnd() {
        // A waiter that is added after this check tests its condition itself. When two threads call this
        // method, the thread that takes the lock last reads the counts of both threads.
        if self.drainWaiters.withLock({ $0.isEmpty }) { return }
        for ignoresExempt in [false, true] where self.isDrained(ignoringExempt: ignoresExempt) {
            let met = self.drainWaiters.withLock { $0.takeAll { $0.ignoresExempt == ignoresExempt } }
            for waiter in met { waiter.resume() }
        }
    }

    /// Resumes the waiters whose condition is met, now and again on each loop after the loop's current job.
    ///
    /// When the bus began to shut down, a loop may have been calling a handler in place, whose outcome is
    /// counted without a call of ``noteEnd()``. When the loop runs this job, the handler has returned.
    func noteEndsEverywhere() {
        // A thread without a loop may have read the phase before the phase changed. After the fence, this
        // thread reads the counts of that thread.
        atomicMemoryFence(ordering: .sequentiallyConsistent)
        for eventLoop in self.eventLoops { eventLoop.execute { self.noteEnd() } }
        self.noteEnd()
    }

    /// Returns whether no message is in flight, apart from exempt messages if they are ignored.
    func isDrained(ignoringExempt: Bool) -> Bool {
        // Read the number of messages first. Otherwise an exempt message that ends between the two reads
        // would hide another message.
        let inFlight = self.unended
        return inFlight <= (ignoringExempt ? self.exemptExchanges.count : 0)
    }

    /// Resumes a waiter even if its condition is not met.
    func endWait(_ id: Int) { self.drainWaiters.withLock { $0.remove(id) }?.resume() }

    /// Ends the sequences of dead letters after the last message has its outcome.
    ///
    /// If a loop is blocked, its messages are not settled. The sequences then end after one second by the
    /// bus's clock, because the bus would otherwise keep their observers forever.
    func closeDeadLetters() {
        guard self.deadLetters.isWatched, !self.isDrained(ignoringExempt: false) else {
            return self.deadLetters.close()
        }
        let id = self.drainWaiters.withLock { $0.nextNumber() }
        let deadline = Deadline(self.time.instant + .seconds(1))
        let watch = DeadlineWatch(deadline, by: self.time, on: nil) { self.endWait(id) }
        let waiter = DrainWaiter(ignoresExempt: false) {
            watch.cancel()
            self.deadLetters.close()
        }
        self.drainWaiters.withLock { $0.add(waiter, as: id) }
        if deadline.hasPassed(by: self.time) { self.endWait(id) }
        self.noteEndsEverywhere()
    }
}
