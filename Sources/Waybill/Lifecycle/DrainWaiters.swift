internal import Synchronization
internal import WaybillEventLoop

/// What waits for the messages in flight to end: callers of ``MessageBus/shutDown(drainingUntil:)``, and the
/// end of the sequences of dead letters.
///
/// A bus that is open never looks here. Once it is shutting down, the code that ends a message calls
/// ``BusCore/noteEnd()``.
struct DrainWaiters {
    /// What may still be in flight.
    enum Condition {
        /// Nothing.
        case none
        /// Exchanges that are exempt from draining.
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

    mutating func add(_ id: Int, _ condition: Condition, _ resume: @escaping @Sendable () -> Void) {
        self.waiters[id] = Waiter(condition: condition, resume: resume)
    }

    /// Takes a waiter out: what resumes it, unless that has been taken already.
    mutating func remove(_ id: Int) -> (@Sendable () -> Void)? {
        self.waiters.removeValue(forKey: id)?.resume
    }

    /// Takes out all waiters of a condition.
    ///
    /// - Returns: what resumes them.
    mutating func remove(_ condition: Condition) -> [@Sendable () -> Void] {
        let met = self.waiters.filter { $0.value.condition == condition }
        for id in met.keys { self.waiters[id] = nil }
        return met.values.map(\.resume)
    }
}

extension BusCore {
    /// Resumes what waits for the last message to end, if this was the last one; called where a message has
    /// been counted as ended and the bus is not open.
    @inline(never)
    func noteEnd() {
        // A waiter that is added later looks by itself. Of two calls at once, the one that takes the lock
        // last sees what both have counted.
        if self.drainWaiters.withLock({ $0.isEmpty }) { return }
        for condition in [DrainWaiters.Condition.none, .butExempt] where self.isDrained(condition) {
            for resume in self.drainWaiters.withLock({ $0.remove(condition) }) { resume() }
        }
    }

    /// Looks for the last message now, and on each loop when it has finished what it is doing.
    ///
    /// A handler that a loop was calling in place when the bus began to shut down is counted without a look
    /// at the phase; it has ended when its loop comes to this job.
    func noteEndsEverywhere() {
        // What a thread without a loop has counted before it looked at the phase is seen below.
        atomicMemoryFence(ordering: .sequentiallyConsistent)
        for eventLoop in self.eventLoops { eventLoop.execute { self.noteEnd() } }
        self.noteEnd()
    }

    /// Whether nothing is in flight that a condition waits for.
    func isDrained(_ condition: DrainWaiters.Condition) -> Bool {
        // What is in flight is counted first, or one that is exempt and ends in between would hide another.
        let inFlight = self.unended
        return switch condition {
        case .none: inFlight <= 0
        case .butExempt: inFlight <= self.exempt.withLock { $0.exchanges.count }
        }
    }

    /// Resumes a waiter whether its condition is met or not.
    func endWait(_ id: Int) { self.drainWaiters.withLock { $0.remove(id) }?() }

    /// Ends the sequences of dead letters when the last message has ended.
    ///
    /// Queued messages end on their loops, which are not waited for: after a second by the bus's clock the
    /// sequences end, or a blocked loop would keep their observers for ever.
    func closeDeadLetters() {
        guard self.deadLetters.isWatched, !self.isDrained(.none) else { return self.deadLetters.close() }
        let id = self.drainWaiters.withLock { $0.nextID() }
        let deadline = Deadline(self.time.instant + .seconds(1))
        let watch = DeadlineWatch(deadline, by: self.time, on: nil) { self.endWait(id) }
        self.drainWaiters.withLock { waiters in
            waiters.add(id, .none) {
                watch.cancel()
                self.deadLetters.close()
            }
        }
        if deadline.hasPassed(by: self.time) { self.endWait(id) }
        self.noteEndsEverywhere()
    }
}
