internal import Synchronization
internal import WaybillEventLoop

/// The code that waits until the messages in flight have an outcome.
///
/// The waiters are the callers of ``MessageBus/shutDown(drainingUntil:)``, and the end of the sequences of
/// dead letters. An open bus does not check the waiters. When the bus is shutting down, the code that settles
/// a message calls ``BusCore/noteEnd()``.
struct DrainWaiters {
    /// The condition for which a waiter waits: the exchanges that may still be in flight.
    enum Condition {
        /// No exchange.
        case none
        /// Only exchanges that are exempt from draining.
        case butExempt
    }

    private struct Waiter {
        let condition: Condition
        let resume: @Sendable () -> Void
    }

    private var waiters: [Int: Waiter] = [:]
    private var lastID = 0

    var isEmpty: Bool { self.waiters.isEmpty }

    mutating func nextID() -> Int {
        self.lastID += 1
        return self.lastID
    }

    mutating func add(_ id: Int, for condition: Condition, _ resume: @escaping @Sendable () -> Void) {
        self.waiters[id] = Waiter(condition: condition, resume: resume)
    }

    /// Removes a waiter and returns the closure that resumes the waiter.
    ///
    /// Returns nil when the waiter has been removed already.
    mutating func remove(_ id: Int) -> (@Sendable () -> Void)? {
        self.waiters.removeValue(forKey: id)?.resume
    }

    /// Removes all waiters of a condition that is met.
    ///
    /// - Returns: The closures that resume the waiters.
    mutating func takeMet(_ condition: Condition) -> [@Sendable () -> Void] {
        let met = self.waiters.filter { $0.value.condition == condition }
        for id in met.keys { self.waiters[id] = nil }
        return met.values.map(\.resume)
    }
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
        for condition in [DrainWaiters.Condition.none, .butExempt] where self.isDrained(condition) {
            for resume in self.drainWaiters.withLock({ $0.takeMet(condition) }) { resume() }
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
    func isDrained(_ condition: DrainWaiters.Condition) -> Bool {
        // Read the number of messages first. Otherwise an exempt message that ends between the two reads
        // would hide another message.
        let inFlight = self.unended
        return switch condition {
        case .none: inFlight <= 0
        case .butExempt: inFlight <= self.exempt.withLock { $0.exchanges.count }
        }
    }

    /// Resumes a waiter even if its condition is not met.
    func endWait(_ id: Int) { self.drainWaiters.withLock { $0.remove(id) }?() }

    /// Ends the sequences of dead letters after the last message has its outcome.
    ///
    /// Each queued message is settled on its loop. If a loop is blocked, the sequences end after one second
    /// by the bus's clock. Otherwise the bus would keep their observers forever.
    func closeDeadLetters() {
        guard self.deadLetters.isWatched, !self.isDrained(.none) else { return self.deadLetters.close() }
        let id = self.drainWaiters.withLock { $0.nextID() }
        let deadline = Deadline(self.time.instant + .seconds(1))
        let watch = DeadlineWatch(deadline, by: self.time, on: nil) { self.endWait(id) }
        self.drainWaiters.withLock { waiters in
            waiters.add(id, for: .none) {
                watch.cancel()
                self.deadLetters.close()
            }
        }
        if deadline.hasPassed(by: self.time) { self.endWait(id) }
        self.noteEndsEverywhere()
    }
}
