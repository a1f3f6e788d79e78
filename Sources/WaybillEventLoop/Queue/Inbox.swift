internal import Synchronization

/// The lock-free queue through which other threads enqueue work for a loop.
///
/// The queue is one atomic word. The word is `empty` while the loop is awake and nothing is queued. It is
/// `parked` while the loop sleeps, and `closed` once the loop has shut down. Otherwise it is the address of
/// the latest item, which links to the item before it.
///
/// Only the thread whose push replaces `parked` wakes the loop. Each sleep therefore has at most one wake-up,
/// even if many items arrive.
struct Inbox: ~Copyable {
    /// The next action of the pushing thread.
    enum Push {
        /// No action: the loop will run the item.
        case queued
        /// Wake the loop.
        case wake
        /// Run the item elsewhere, because the loop has shut down and has rejected the item.
        case closed
    }

    private static let empty: UInt = 0
    private static let parked: UInt = 1
    private static let closed: UInt = 2

    private let word = Atomic<UInt>(Inbox.empty)
    private let pushes = Atomic<UInt>(0)

    /// The number of items that were ever pushed, including rejected ones.
    var pushCount: UInt { self.pushes.load(ordering: .relaxed) }

    /// Whether an item is queued; only the loop's thread may ask, while the loop is awake.
    var hasWork: Bool { self.word.load(ordering: .relaxed) > Self.closed }

    /// Enqueues an item, from any thread, and returns the next action of the caller.
    ///
    /// The loop owns the memory of the item from here on, unless the result is `closed`. If the item may have
    /// to wake the loop, `willWake` runs before the item is in the queue. `willWake` can retain the objects
    /// that the wake-up needs. The loop may run the item at once and release these objects.
    func push(_ item: WorkItem, willWake: () -> Void) -> Push {
        let address = unsafe UInt(bitPattern: item.address)
        self.pushes.wrappingAdd(1, ordering: .relaxed)
        var seen = self.word.load(ordering: .relaxed)
        var isPrepared = false
        while true {
            if seen == Self.closed {
                // This load has acquire ordering: the last work of the loop's thread happens before the work
                // that the caller runs elsewhere.
                _ = self.word.load(ordering: .acquiring)
                return .closed
            }
            if seen == Self.parked, !isPrepared {
                willWake()
                isPrepared = true
            }
            item.next = seen == Self.parked ? Self.empty : seen
            let (exchanged, original) = self.word.weakCompareExchange(
                expected: seen,
                desired: address,
                successOrdering: .releasing,
                failureOrdering: .relaxed
            )
            if exchanged { return seen == Self.parked ? .wake : .queued }
            seen = original
        }
    }

    /// Removes and returns all items, oldest first; the loop is awake afterwards.
    func take() -> WorkList {
        Self.list(from: self.word.exchange(Self.empty, ordering: .acquiring))
    }

    /// Parks the loop if the queue is empty, and returns whether the loop may block until the next push.
    func park() -> Bool {
        self.word.compareExchange(expected: Self.empty, desired: Self.parked, ordering: .relaxed).exchanged
    }

    /// Removes and returns all items for the last time, and closes the queue.
    func close() -> WorkList {
        Self.list(from: self.word.exchange(Self.closed, ordering: .acquiringAndReleasing))
    }

    /// Returns the items of the chain from the oldest to the latest.
    private static func list(from word: UInt) -> WorkList {
        var list = WorkList()
        var address = word
        // A word above the three special values is the address of an item that is still in the queue.
        while address > Self.closed, let pointer = unsafe UnsafeMutableRawPointer(bitPattern: address) {
            let item = unsafe WorkItem(address: pointer)
            address = item.next
            list.prepend(item)
        }
        return list
    }
}

/// Padding that keeps the members before it and the members after it in separate cache lines.
///
/// The padding is two cache lines long, because processors fetch cache lines in pairs.
struct CacheLinePadding: Sendable {
    private let bytes = InlineArray<16, UInt64>(repeating: 0)
}
