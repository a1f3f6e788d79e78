internal import Synchronization
internal import WaybillEventLoop

/// What a bus writes down about its messages: how many there were, and how each ended.
final class Books: Sendable {
    /// The counters of every thread that is not one of the bus's loops.
    let shared = Counters()

    private let ids = Atomic<UInt64>(CorrelationID.newBlock())
    private let lanes = Locked<[Counters]>([])

    func open(_ counters: Counters) { self.lanes.withLock { $0.append(counters) } }

    /// The ID for a message of a thread that is not one of the bus's loops.
    func nextID() -> CorrelationID {
        CorrelationID(rawValue: self.ids.add(1, ordering: .relaxed).newValue)
    }

    var statistics: BusStatistics {
        let all = self.lanes.withLock { $0 } + [self.shared]
        var statistics = BusStatistics()
        for counters in all { statistics.add(counters) }
        for counters in all { statistics.sent += counters.sent.load(ordering: .acquiring) }
        return statistics
    }
}

extension CorrelationID {
    private static let blocks = Atomic<UInt64>(0)

    /// The number before the first of a block of a trillion that nobody else in this process uses.
    static func newBlock() -> UInt64 {
        Self.blocks.add(1, ordering: .relaxed).newValue << 40
    }
}
