internal import Synchronization

/// The books of a bus: how many messages were sent, and how each ended.
///
/// They balance at every moment:
/// `sent == replied + failed + expired + cancelled + deadLettered + inFlight`.
public struct BusStatistics: Sendable, Equatable {
    /// Messages that were given to the bus.
    public var sent = 0
    /// Messages whose handler returned.
    public var replied = 0
    /// Messages whose handler threw, or whose value was not what the handler needed.
    public var failed = 0
    /// Messages whose deadline passed first.
    public var expired = 0
    /// Messages whose caller was cancelled first.
    public var cancelled = 0
    /// Messages that never reached a handler.
    public var deadLettered = 0
    /// Messages that have not ended yet.
    public var inFlight: Int {
        self.sent - self.replied - self.failed - self.expired - self.cancelled - self.deadLettered
    }

    mutating func add(_ counters: Counters) {
        // What ended is read before what was sent: a message in between counts as in flight, never as less than none.
        self.replied += counters.replied.load(ordering: .acquiring)
        self.failed += counters.failed.load(ordering: .acquiring)
        self.expired += counters.expired.load(ordering: .acquiring)
        self.cancelled += counters.cancelled.load(ordering: .acquiring)
        self.deadLettered += counters.deadLettered.load(ordering: .acquiring)
    }
}
