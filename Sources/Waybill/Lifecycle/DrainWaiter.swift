internal import Synchronization
internal import WaybillEventLoop

/// Code that waits until the messages in flight have an outcome.
///
/// The waiters are the callers of ``MessageBus/shutDown(drainingUntil:)``, and the end of the sequences of
/// dead letters. An open bus does not check the waiters. When the bus is shutting down, the code that settles
/// a message calls ``BusCore/noteEnd()``.
struct DrainWaiter: Sendable {
    /// The condition for which a waiter waits: the exchanges that may still be in flight.
    enum Condition {
        /// No exchange.
        case none
        /// Only exchanges that are exempt from draining.
        case butExempt
    }

    let condition: Condition
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
        for condition in [DrainWaiter.Condition.none, .butExempt] where self.isDrained(condition) {
            let met = self.drainWaiters.withLock { $0.takeAll { $0.condition == condition } }
            for waiter in met { waiter.resume() }
        }
    }

    /// Resumes the waiters whose condition is met, now and again on each loop after the loop's current job.
    ///
    /// When the bus began to shut down, a loop may have been calling a handler in place. The outcome of this
    /// message is then counted without a call of ``noteEnd()``. When the loop runs this job, the handler has
    /// returned.
    func noteEndsEverywhere() {
        // A thread without a loop may have read the phase before the phase changed. After the fence, this
        // thread reads the counts of that thread.
        atomicMemoryFence(ordering: .sequentiallyConsistent)
        for eventLoop in self.eventLoops { eventLoop.execute { self.noteEnd() } }
        self.noteEnd()
    }

    /// Returns whether a condition is met: no message is in flight, except exempt messages if the condition
    /// allows them.
    func isDrained(_ condition: DrainWaiter.Condition) -> Bool {
        // Read the number of messages first. Otherwise an exempt message that ends between the two reads
        // would hide another message.
        let inFlight = self.unended
        return switch condition {
        case .none: inFlight <= 0
        case .butExempt: inFlight <= self.exemptExchanges.count
        }
    }

    /// Resumes a waiter even if its condition is not met.
    func endWait(_ id: Int) { self.drainWaiters.withLock { $0.remove(id) }?.resume() }

    /// Ends the sequences of dead letters after the last message has its outcome.
    ///
    /// Each queued message is settled on its loop. If a loop is blocked, the sequences end after one second
    /// by the bus's clock. Otherwise the bus would keep their observers forever.
    func closeDeadLetters() {
        guard self.deadLetters.isWatched, !self.isDrained(.none) else { return self.deadLetters.close() }
        let id = self.drainWaiters.withLock { $0.nextNumber() }
        let deadline = Deadline(self.time.instant + .seconds(1))
        let watch = DeadlineWatch(deadline, by: self.time, on: nil) { self.endWait(id) }
        let waiter = DrainWaiter(condition: .none) {
            watch.cancel()
            self.deadLetters.close()
        }
        self.drainWaiters.withLock { $0.add(waiter, as: id) }
        if deadline.hasPassed(by: self.time) { self.endWait(id) }
        self.noteEndsEverywhere()
    }
}
