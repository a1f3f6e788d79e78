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
    /// Messages that nobody took; and those that nobody awaited and that came to nothing.
    public var deadLettered = 0
    /// Replies that came when their messages had ended otherwise, and were dropped; those messages are in another column.
    public var lateReplies = 0
    /// Messages that have not ended yet.
    public var inFlight: Int { self.sent - self.ended }

    /// Messages that have ended, in whichever way.
    var ended: Int { self.replied + self.failed + self.expired + self.cancelled + self.deadLettered }

    mutating func add(_ counters: Counters) {
        // What ended is read before what was sent: a message in between counts as in flight, never as less than none.
        self.replied += counters.replied.load(ordering: .acquiring)
        self.failed += counters.failed.load(ordering: .acquiring)
        self.expired += counters.expired.load(ordering: .acquiring)
        self.cancelled += counters.cancelled.load(ordering: .acquiring)
        self.deadLettered += counters.deadLettered.load(ordering: .acquiring)
        self.lateReplies += counters.lateReplies.load(ordering: .acquiring)
    }
}

extension BusStatistics: CustomStringConvertible {
    /// Both together, column by column.
    static func + (left: Self, right: Self) -> Self {
        var sum = left
        sum.sent += right.sent
        sum.replied += right.replied
        sum.failed += right.failed
        sum.expired += right.expired
        sum.cancelled += right.cancelled
        sum.deadLettered += right.deadLettered
        sum.lateReplies += right.lateReplies
        return sum
    }

    /// What is in one of the two, or happened between them, column by column.
    public static func - (left: Self, right: Self) -> Self {
        var difference = left
        difference.sent -= right.sent
        difference.replied -= right.replied
        difference.failed -= right.failed
        difference.expired -= right.expired
        difference.cancelled -= right.cancelled
        difference.deadLettered -= right.deadLettered
        difference.lateReplies -= right.lateReplies
        return difference
    }

    /// One readable line, with every column; late replies are the last, if there were any.
    public var description: String {
        """
        \(self.sent) sent: \(self.replied) replied, \(self.failed) failed, \(self.expired) expired, \
        \(self.cancelled) cancelled, \(self.deadLettered) dead-lettered, \(self.inFlight) in flight\
        \(self.lateReplies == 0 ? "" : ", \(self.lateReplies) replied too late")
        """
    }
}
