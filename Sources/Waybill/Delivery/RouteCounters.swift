internal import Synchronization

/// The books of one route, in its handler.
///
/// What is called in place counts when it has ended, and everything else from the moment that its handler has it: so a
/// message that is called in place pays for one number that only its loop writes.
struct RouteCounters: ~Copyable, Sendable {
    /// Messages whose handler was called in place and returned; written by the handler's loop only.
    let repliedInPlace = Atomic<Int>(0)

    private let inFlight = Atomic<Int>(0)
    private let replied = Atomic<Int>(0)
    private let failed = Atomic<Int>(0)
    private let expired = Atomic<Int>(0)
    private let cancelled = Atomic<Int>(0)
    private let deadLettered = Atomic<Int>(0)
    private let lateReplies = Atomic<Int>(0)

    /// Counts a message that ``end(_:)`` will follow.
    func begin() { Counters.add(self.inFlight) }

    /// Counts how a message ended that has begun.
    func end(_ tally: Tally) {
        self.count(tally)
        self.inFlight.subtract(1, ordering: .releasing)
    }

    /// Counts a message that ended without having begun: it was called in place, or did not get that far.
    @inline(never)
    func count(_ tally: Tally) {
        switch tally {
        case .replied: Counters.add(self.replied)
        case .failed: Counters.add(self.failed)
        case .expired: Counters.add(self.expired)
        case .cancelled: Counters.add(self.cancelled)
        case .deadLettered: Counters.add(self.deadLettered)
        }
    }

    /// Counts a reply that came when its message had ended.
    func countLateReply() { Counters.add(self.lateReplies) }

    var statistics: BusStatistics {
        // What is in flight is read first: one that ends meanwhile is counted twice for a moment, but never lost.
        let inFlight = self.inFlight.load(ordering: .acquiring)
        var statistics = BusStatistics()
        statistics.replied =
            self.repliedInPlace.load(ordering: .acquiring) + self.replied.load(ordering: .acquiring)
        statistics.failed = self.failed.load(ordering: .acquiring)
        statistics.expired = self.expired.load(ordering: .acquiring)
        statistics.cancelled = self.cancelled.load(ordering: .acquiring)
        statistics.deadLettered = self.deadLettered.load(ordering: .acquiring)
        statistics.lateReplies = self.lateReplies.load(ordering: .acquiring)
        statistics.sent = inFlight + statistics.ended
        return statistics
    }
}
