internal import Logging
internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

/// One set of counters: how many messages were sent, and how each ended.
///
/// Each loop keeps its own, so that counting is a load and a store in the loop's own cache; ``add(_:)`` is
/// for the set that all other threads share.
final class Counters: Sendable {
    let sent = Atomic<Int>(0)
    let replied = Atomic<Int>(0)
    let failed = Atomic<Int>(0)
    let expired = Atomic<Int>(0)
    let cancelled = Atomic<Int>(0)
    let deadLettered = Atomic<Int>(0)
    let lateReplies = Atomic<Int>(0)

    /// Counts one, on the one thread that may write this set.
    @inline(__always)
    static func increment(_ counter: borrowing Atomic<Int>) {
        counter.store(counter.load(ordering: .relaxed) &+ 1, ordering: .releasing)
    }

    /// Counts one, on any thread.
    static func add(_ counter: borrowing Atomic<Int>) {
        counter.add(1, ordering: .sequentiallyConsistent)
    }
}

extension Counters {
    /// Counts how a message ended, on the one thread that may write this set.
    @inline(__always)
    func close(_ kind: Outcome.Kind) {
        switch kind {
        case .replied: Self.increment(self.replied)
        case .failed: Self.increment(self.failed)
        case .expired: Self.increment(self.expired)
        case .cancelled: Self.increment(self.cancelled)
        case .deadLettered: Self.increment(self.deadLettered)
        }
    }

    /// Counts how a message ended, on any thread.
    func closeShared(_ kind: Outcome.Kind) {
        switch kind {
        case .replied: Self.add(self.replied)
        case .failed: Self.add(self.failed)
        case .expired: Self.add(self.expired)
        case .cancelled: Self.add(self.cancelled)
        case .deadLettered: Self.add(self.deadLettered)
        }
    }
}

/// The counters of one route, in its handler.
///
/// What is called in place counts when it has ended, and everything else from the moment that its handler has
/// it: so a message that is called in place pays for one number that only its loop writes.
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

    /// Counts how a message ended.
    ///
    /// - Parameters:
    ///   - kind: how.
    ///   - hasBegun: whether ``begin()`` has counted it.
    @inline(__always)
    func end(_ kind: Outcome.Kind, hasBegun: Bool = true) {
        self.count(kind)
        if hasBegun { self.inFlight.subtract(1, ordering: .releasing) }
    }

    /// Takes ``begin()`` back, for a message that ended meanwhile and was counted by that.
    func forget() { self.inFlight.subtract(1, ordering: .releasing) }

    /// Counts a message that ended without having begun: it was called in place, or did not get that far.
    @inline(never)
    func count(_ kind: Outcome.Kind) {
        switch kind {
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
        // What is in flight is read first: one that ends meanwhile is counted twice for a moment, but never
        // lost.
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

extension Outcome {
    /// The counter that an outcome belongs to.
    enum Kind {
        case replied
        case failed
        case expired
        case cancelled
        case deadLettered

        init(_ code: RoutingError.Code) {
            switch code {
            case .deadlineExceeded: self = .expired
            case .cancelled: self = .cancelled
            case .invalidURL, .noRoute, .noHandler, .mailboxFull, .hopLimitExceeded, .shutDown:
                self = .deadLettered
            default: self = .failed
            }
        }
    }

    /// The counter of a message whose caller gets the outcome.
    var kind: Kind {
        switch self {
        case .replied: .replied
        case .failed(let error): Kind(error.code)
        }
    }

    /// The counter of a message that no caller awaits, so that a failure makes it a dead letter.
    var kindUnawaited: Kind {
        switch self {
        case .replied: .replied
        case .failed: .deadLettered
        }
    }
}

/// The statistics of a bus: how many messages there were, and how each ended.
final class Statistics: Sendable {
    /// The counters of every thread that is not one of the bus's loops.
    let shared = Counters()

    private let ids = Atomic<UInt64>(CorrelationID.newBlock())
    private let shards = Locked<[Counters]>([])

    func open(_ counters: Counters) { self.shards.withLock { $0.append(counters) } }

    /// The ID for a message of a thread that is not one of the bus's loops.
    func nextID() -> CorrelationID {
        CorrelationID(rawValue: self.ids.add(1, ordering: .relaxed).newValue)
    }

    var current: BusStatistics {
        let all = self.shards.withLock { $0 } + [self.shared]
        var statistics = BusStatistics()
        for counters in all { statistics.add(counters) }
        for counters in all { statistics.sent += counters.sent.load(ordering: .acquiring) }
        return statistics
    }
}

extension CorrelationID {
    private static let blocks = Atomic<UInt64>(0)

    /// The number before the first of a block of a trillion that nothing else in this process uses.
    static func newBlock() -> UInt64 {
        Self.blocks.add(1, ordering: .relaxed).newValue << 40
    }
}

extension BusCore {
    /// Counts a message that a thread gives to the bus, and names it.
    func open() -> CorrelationID {
        guard let shard = self.currentShard else {
            Counters.add(self.statistics.shared.sent)
            return self.statistics.nextID()
        }
        return shard.open()
    }

    /// An ID for a message that is not counted.
    func nextID() -> CorrelationID { self.currentShard?.nextID() ?? self.statistics.nextID() }

    /// Counts how a message ended.
    func close(_ kind: Outcome.Kind) {
        // First, since a shard that is asked for is counted.
        if self.primaryShard.isCurrent {
            self.primaryShard.counters.close(kind)
        } else if let shard = self.currentShard {
            shard.counters.close(kind)
        } else {
            return self.closeShared(kind)
        }
        if self.phase.load(ordering: .relaxed) != .open { self.noteEnd() }
    }

    /// Counts how a message ended on a thread that is not one of the bus's loops.
    private func closeShared(_ kind: Outcome.Kind) {
        self.statistics.shared.closeShared(kind)
        // Either this sees that the bus is shutting down, or the code that shuts it down sees the count.
        if self.phase.load(ordering: .sequentiallyConsistent) != .open { self.noteEnd() }
    }

    /// Counts a reply that came when its message had ended otherwise.
    func countLateReply(at handler: Handler?) {
        handler?.counters.countLateReply()
        Counters.add(self.statistics.shared.lateReplies)
    }

    /// Logs a failure that no caller receives.
    func log(_ url: String, _ error: RoutingError, as what: String = "dead letter") {
        self.logger.warning("\(what)", metadata: ["url": "\(url.onShortLine)", "error": "\(error)"])
    }
}
