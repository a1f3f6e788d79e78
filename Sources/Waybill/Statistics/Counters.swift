internal import Logging
internal import Synchronization
internal import WaybillRouting

/// The number of messages with each outcome.
///
/// Either a single thread writes the counters with `increment()`, or any number of threads write them with
/// `incrementShared()`.
struct OutcomeCounters: ~Copyable, Sendable {
    let replied = Atomic<Int>(0)
    let failed = Atomic<Int>(0)
    let expired = Atomic<Int>(0)
    let cancelled = Atomic<Int>(0)
    let deadLettered = Atomic<Int>(0)
    /// The number of replies to messages that already had an outcome.
    let lateReplies = Atomic<Int>(0)

    @inline(__always)
    func count(_ kind: Outcome.Kind, _ increment: (borrowing Atomic<Int>) -> Void) {
        switch kind {
        case .replied: increment(self.replied)
        case .failed: increment(self.failed)
        case .expired: increment(self.expired)
        case .cancelled: increment(self.cancelled)
        case .deadLettered: increment(self.deadLettered)
        }
    }
}

extension Atomic where Value == Int {
    /// Adds 1 to a number that only one thread writes.
    @inline(__always)
    borrowing func increment() { self.store(self.load(ordering: .relaxed) &+ 1, ordering: .releasing) }

    /// Adds 1 to a number that any thread may write.
    borrowing func incrementShared() { self.add(1, ordering: .sequentiallyConsistent) }
}

/// A set of counters: the number of messages that were sent, and the number of each outcome.
///
/// Each loop has its own set, so that counting a message is a load and a store in the loop's own cache. All
/// other threads share one set.
final class Counters: Sendable {
    let sent = Atomic<Int>(0)
    let ended = OutcomeCounters()
}

/// The counters of one route, which its handler holds.
///
/// A message whose handler is called in place counts when the handler has returned, so it needs only one
/// counter, and only the loop writes this counter. Any other message counts from the moment when its handler
/// has received it.
struct RouteCounters: ~Copyable, Sendable {
    /// The number of messages whose handler returned in place; only the handler's loop writes the number.
    private let repliedInPlace = Atomic<Int>(0)

    private let inFlight = Atomic<Int>(0)
    let ended = OutcomeCounters()

    func countInFlight() { self.inFlight.incrementShared() }

    /// Reverts ``countInFlight()`` for a message that has its outcome already.
    func uncountInFlight() { self.inFlight.subtract(1, ordering: .releasing) }

    /// Counts the outcome of a message.
    ///
    /// `isCountedInFlight` states whether ``countInFlight()`` has counted the message, and `isOnLoop` whether
    /// the calling thread runs the handler's loop.
    @inline(__always)
    func end(_ kind: Outcome.Kind, isCountedInFlight: Bool, isOnLoop: Bool) {
        if isOnLoop, !isCountedInFlight, case .replied = kind {
            self.repliedInPlace.increment()
        } else {
            self.endShared(kind, isCountedInFlight: isCountedInFlight)
        }
    }

    @inline(never)
    private func endShared(_ kind: Outcome.Kind, isCountedInFlight: Bool) {
        self.ended.count(kind) { $0.incrementShared() }
        if isCountedInFlight { self.inFlight.subtract(1, ordering: .releasing) }
    }

    var statistics: BusStatistics {
        // Read the messages in flight first. A message that ends between the two reads is counted twice for a
        // moment, but is never missing.
        let inFlight = self.inFlight.load(ordering: .acquiring)
        var statistics = BusStatistics()
        statistics.include(self.ended)
        statistics.replied += self.repliedInPlace.load(ordering: .acquiring)
        statistics.sent = inFlight + statistics.ended
        return statistics
    }
}

/// The statistics of a bus: the sum of the counters of all threads.
final class Statistics: Sendable {
    /// The counters of all threads that run no loop of the bus.
    let shared = Counters()

    private let ids = Atomic<UInt64>(CorrelationID.newBlock())
    private let loops: [Counters]

    init(of loops: [Counters]) { self.loops = loops }

    /// Returns the ID of a message from a thread that runs no loop of the bus.
    func nextID() -> CorrelationID { CorrelationID(rawValue: self.ids.add(1, ordering: .relaxed).newValue) }

    var current: BusStatistics {
        let all = self.loops + [self.shared]
        var statistics = BusStatistics()
        // Read the outcomes before the sent messages. A message that ends between the two reads then counts
        // as in flight, and the number of messages in flight is never negative.
        for counters in all { statistics.include(counters.ended) }
        for counters in all { statistics.sent += counters.sent.load(ordering: .acquiring) }
        return statistics
    }
}

extension CorrelationID {
    private static let blocks = Atomic<UInt64>(0)

    /// Returns the number before a block of 2^40 numbers that no other code in this process uses.
    static func newBlock() -> UInt64 { Self.blocks.add(1, ordering: .relaxed).newValue << 40 }
}

extension BusCore {
    /// Returns an ID for a message that is not counted as sent.
    func nextID() -> CorrelationID { self.currentShard?.with { $0.nextID() } ?? self.statistics.nextID() }

    /// Counts a reply to a message that already had an outcome.
    func countLateReply(at handler: Handler?) {
        handler?.counters.ended.lateReplies.incrementShared()
        self.statistics.shared.ended.lateReplies.incrementShared()
    }

    /// Logs a failure that no caller receives.
    func log(_ url: String, _ error: RoutingError, as what: String = "dead letter") {
        self.logger.warning("\(what)", metadata: ["url": "\(url.onShortLine)", "error": "\(error)"])
    }
}
