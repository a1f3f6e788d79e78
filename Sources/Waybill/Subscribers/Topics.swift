internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

/// The subscribers of a bus, which its loops read without a lock.
///
/// As in ``RouteRegistry``, the index is a value behind a lock. A loop reads a snapshot of the index, and
/// compares ``generation`` to detect that a newer snapshot exists.
final class Topics: Sendable {
    /// A number that increases with every change.
    let generation = Atomic<Int>(0)
    private let state: Locked<State>

    /// The number of patterns that one read under the lock justifies to copy.
    ///
    /// An index is copied when its reads, times this number, exceed its number of patterns.
    private static let patternsPerRead = 256

    private struct State {
        var index = TopicIndex()
        var numbers: [RoutePattern: Int] = [:]
        var patterns: [Int: RoutePattern] = [:]
        var snapshot: TopicSnapshot?
        var reads = 0
        var lastID = 0
        var isClosed = false

        /// Discards the snapshot.
        ///
        /// Every change must call this method.
        mutating func outdate() -> TopicSnapshot? {
            self.reads = 0
            return self.snapshot.take()
        }
    }

    /// The topic and the ID by which the index finds a subscriber.
    struct SubscriberID: Sendable {
        let topic: Int
        let id: Int
    }

    init() { self.state = Locked(State()) }

    /// The snapshot that a loop has at first.
    ///
    /// The snapshot has no subscribers.
    static let empty = TopicSnapshot(TopicIndex(), generation: 0)

    /// Adds a subscriber to a pattern, or returns nil when the bus accepts no more subscribers.
    func subscribe(
        _ subscriber: Subscriber,
        to pattern: RoutePattern,
        _ makeTable: () -> RouteTable<Int>
    ) throws(RoutingError) -> SubscriberID? {
        try self.state.withLock { state throws(RoutingError) in
            guard !state.isClosed else { return nil }
            _ = state.outdate()
            defer { self.generation.add(1, ordering: .releasing) }
            let topic: Int
            if let number = state.numbers[pattern] {
                topic = number
            } else {
                topic = try state.index.insert(pattern, makeTable: makeTable)
                state.numbers[pattern] = topic
                state.patterns[topic] = pattern
            }
            state.lastID += 1
            state.index.insert(subscriber, id: state.lastID, to: topic)
            return SubscriberID(topic: topic, id: state.lastID)
        }
    }

    /// Removes and returns a subscriber.
    ///
    /// Returns nil when the subscriber has been removed already.
    func unsubscribe(_ subscriber: SubscriberID) -> Subscriber? {
        self.state.withLock { state in
            guard let removed = state.index.remove(id: subscriber.id, from: subscriber.topic) else {
                return nil
            }
            _ = state.outdate()
            if removed.isLast, let pattern = state.patterns.removeValue(forKey: subscriber.topic) {
                state.numbers[pattern] = nil
            }
            self.generation.add(1, ordering: .releasing)
            return removed.subscriber
        }
    }

    /// Sets the default scheme of URLs.
    ///
    /// A pattern without a scheme keeps the default scheme that applied when the pattern was subscribed.
    func setDefaultScheme(_ scheme: String) {
        self.state.withLock { state in
            _ = state.outdate()
            state.index.setDefaultScheme(scheme)
            self.generation.add(1, ordering: .releasing)
        }
    }

    /// Removes and returns all subscribers.
    ///
    /// No subscriber can be added after this call.
    func close() -> [Subscriber] {
        self.state.withLock { state in
            let subscribers = state.index.subscribers
            state = State()
            state.isClosed = true
            self.generation.add(1, ordering: .releasing)
            return subscribers
        }
    }

    /// The handlers of the subscribers that are code and not buffers.
    var handlers: [Handler] {
        self.state.withLock { $0.index.subscribers }.compactMap(\.handler)
    }

    /// Returns the subscribers whose patterns currently match a URL.
    ///
    /// Any thread may call this method.
    func matched(of url: String) throws(RoutingError) -> MatchedSubscribers {
        if let snapshot = self.snapshotIfWorthIt() { return try snapshot.matched(of: url) }
        return try self.state.withLock { state throws(RoutingError) in try state.index.matched(of: url) }
    }

    /// Returns a snapshot of the current index.
    ///
    /// Returns nil when the index has changed so recently that a copy of the index would cost more than a
    /// lookup under the lock.
    func snapshotIfWorthIt() -> TopicSnapshot? {
        self.state.withLock { state in
            if let snapshot = state.snapshot { return snapshot }
            state.reads += 1
            guard state.reads * Self.patternsPerRead > state.index.count else { return nil }
            let snapshot = TopicSnapshot(
                state.index,
                generation: self.generation.load(ordering: .relaxed)
            )
            state.snapshot = snapshot
            return snapshot
        }
    }
}

/// The subscribers by pattern at one moment.
final class TopicSnapshot: Sendable {
    private let index: TopicIndex
    let generation: Int

    init(_ index: TopicIndex, generation: Int) {
        self.index = index
        self.generation = generation
    }

    /// Returns the subscribers whose patterns match a URL.
    func matched(of url: String) throws(RoutingError) -> MatchedSubscribers {
        try self.index.matched(of: url)
    }
}
