internal import Synchronization

/// The queue on which other threads leave work for a loop: one atomic word, no lock.
///
/// The word is `empty` while the loop is awake and nothing is queued, `parked` while the loop sleeps,
/// `closed` once it has shut down, and otherwise the address of the latest item, which links to the one
/// before it. Only the thread whose push replaces `parked` wakes the loop: at most one wake-up for each
/// sleep, however many items arrive.
struct Inbox: ~Copyable {
    /// What the pushing thread has to do next.
    enum Push {
        /// Nothing: the loop will take the item.
        case queued
        /// Wake the loop.
        case wake
        /// Run the item elsewhere: the loop has shut down and did not take it.
        case closed
    }

    private static let empty: UInt = 0
    private static let parked: UInt = 1
    private static let closed: UInt = 2

    private let word = Atomic<UInt>(Inbox.empty)
    private let pushes = Atomic<UInt>(0)

    /// How many items were ever pushed.
    var pushCount: UInt { self.pushes.load(ordering: .relaxed) }

    /// Whether an item is queued; for the loop's thread, while it is awake.
    var hasWork: Bool { self.word.load(ordering: .relaxed) > Self.closed }

    /// Queues an item, from any thread.
    ///
    /// - Parameters:
    ///   - item: The item; its memory belongs to the loop from here on, unless the answer is `closed`.
    ///   - willWake: Runs before an item that may have to wake the loop is published, so that what is needed
    ///     to wake it stays alive however fast the item runs.
    /// - Returns: What the caller has to do next.
    func push(_ item: WorkItem, willWake: () -> Void) -> Push {
        let address = unsafe UInt(bitPattern: item.address)
        self.pushes.wrappingAdd(1, ordering: .relaxed)
        var seen = self.word.load(ordering: .relaxed)
        var isPrepared = false
        while true {
            if seen == Self.closed {
                // What the loop's thread did last happened before what the caller has run elsewhere.
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

    /// Takes everything, oldest first; the loop is awake afterwards.
    func take() -> WorkList {
        Self.list(from: self.word.exchange(Self.empty, ordering: .acquiring))
    }

    /// Goes to sleep, unless there is work.
    ///
    /// - Returns: Whether the loop may block: the next push wakes it.
    func park() -> Bool {
        self.word.compareExchange(expected: Self.empty, desired: Self.parked, ordering: .relaxed).exchanged
    }

    /// Takes everything, for the last time.
    func close() -> WorkList {
        Self.list(from: self.word.exchange(Self.closed, ordering: .acquiringAndReleasing))
    }

    /// Reverses the chain that starts with the latest item.
    private static func list(from word: UInt) -> WorkList {
        var list = WorkList()
        var address = word
        // Whatever is greater than the marks is the address of an item that was pushed and not taken since.
        while address > Self.closed, let pointer = unsafe UnsafeMutableRawPointer(bitPattern: address) {
            let item = unsafe WorkItem(address: pointer)
            address = item.next
            list.prepend(item)
        }
        return list
    }
}

/// Keeps what stands before it and what stands after it out of one another's cache lines.
///
/// Two lines, since processors fetch them in pairs.
struct CacheLinePadding: Sendable {
    private let bytes = InlineArray<16, UInt64>(repeating: 0)
}
