internal import Synchronization
internal import WaybillEventLoop

/// The waiters for the end of the messages in flight.
///
/// The waiters are callers of ``MessageBus/shutDown(drainingUntil:)``, and the end of the sequences of dead
/// letters. An open bus never checks them. Once the bus is shutting down, the code that ends a message calls
/// ``BusCore/noteEnd()``.
struct DrainWaiters {
    /// The exchanges that may still be in flight.
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

    /// Removes a waiter and returns the closure that resumes it, or nil when it has been removed already.
    mutating func remove(_ id: Int) -> (@Sendable () -> Void)? {
        self.waiters.removeValue(forKey: id)?.resume
    }

    /// Removes all waiters of a condition.
    ///
    /// - Returns: The closures that resume them.
    mutating func takeMet(_ condition: Condition) -> [@Sendable () -> Void] {
        let met = self.waiters.filter { $0.value.condition == condition }
        for id in met.keys { self.waiters[id] = nil }
        return met.values.map(\.resume)
    }
}

extension BusCore {
    /// Resumes the waiters for the end of the last message, if it has ended.
    ///
    /// It is called when a message has been counted as ended and the bus is not open.
    @inline(never)
    func noteEnd() {
        // A waiter that is added later checks the condition itself. When two threads call this method, the
        // thread that takes the lock last sees the counts of both.
        if self.drainWaiters.withLock({ $0.isEmpty }) { return }
        for condition in [DrainWaiters.Condition.none, .butExempt] where self.isDrained(condition) {
            for resume in self.drainWaiters.withLock({ $0.takeMet(condition) }) { resume() }
        }
    }

    /// Checks now whether the last message has ended, and again on each loop when the loop has finished its
    /// current job.
    ///
    /// If a loop was calling a handler in place when the bus began to shut down, the end of that message is
    /// counted without a check of the phase. The handler has returned when its loop runs this job.
    func noteEndsEverywhere() {
        // After the fence, this thread sees the counts of a thread without a loop that read the phase before
        // it changed.
        atomicMemoryFence(ordering: .sequentiallyConsistent)
        for eventLoop in self.eventLoops { eventLoop.execute { self.noteEnd() } }
        self.noteEnd()
    }

    /// Returns whether a condition is met: no message is in flight, except exempt ones where the condition
    /// allows them.
    func isDrained(_ condition: DrainWaiters.Condition) -> Bool {
        // Read the count of messages first. Otherwise an exempt message that ends in between would hide
        // another message.
        let inFlight = self.unended
        return switch condition {
        case .none: inFlight <= 0
        case .butExempt: inFlight <= self.exempt.withLock { $0.exchanges.count }
        }
    }

    /// Resumes a waiter even if its condition is not met.
    func endWait(_ id: Int) { self.drainWaiters.withLock { $0.remove(id) }?() }

    /// Ends the sequences of dead letters when the last message has ended.
    ///
    /// Queued messages end on their loops. If a loop is blocked, the sequences end after one second by the
    /// bus's clock, because otherwise their observers would be kept forever.
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
