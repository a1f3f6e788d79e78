internal import Synchronization

/// One set of books: how many messages were sent, and how each ended.
///
/// Each loop keeps its own, so that counting is a load and a store in the loop's own cache; ``add(_:)`` is for the set
/// that all other threads share.
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
        counter.add(1, ordering: .releasing)
    }
}

extension Counters {
    /// Counts how a message ended, on the one thread that may write this set.
    @inline(__always)
    func close(_ tally: Tally) {
        switch tally {
        case .replied: Self.increment(self.replied)
        case .failed: Self.increment(self.failed)
        case .expired: Self.increment(self.expired)
        case .cancelled: Self.increment(self.cancelled)
        case .deadLettered: Self.increment(self.deadLettered)
        }
    }

    /// Counts how a message ended, on any thread.
    func closeShared(_ tally: Tally) {
        switch tally {
        case .replied: Self.add(self.replied)
        case .failed: Self.add(self.failed)
        case .expired: Self.add(self.expired)
        case .cancelled: Self.add(self.cancelled)
        case .deadLettered: Self.add(self.deadLettered)
        }
    }
}
