internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

/// The subscribers of a bus, and how its loops see them without a lock.
///
/// It works as ``RouteRegistry`` does for routes: the index is a value behind a lock, and a loop reads a
/// snapshot of it until ``generation`` says that there is a newer one.
final class Topics: Sendable {
    /// Increases with every change.
    let generation = Atomic<Int>(0)
    private let state: Locked<State>

    /// A large index is copied when it has been read once for this many patterns in it.
    private static let patternsPerRead = 256

    private struct State {
        var index = TopicIndex()
        var numbers: [RoutePattern: Int] = [:]
        var patterns: [Int: RoutePattern] = [:]
        var snapshot: TopicSnapshot?
        var reads = 0
        var lastID = 0
        var isClosed = false

        /// What every change does.
        mutating func outdate() -> TopicSnapshot? {
            self.reads = 0
            return self.snapshot.take()
        }
    }

    /// What a subscriber is found by.
    struct SubscriberID: Sendable {
        let topic: Int
        let id: Int
    }

    init() { self.state = Locked(State()) }

    /// What a loop begins with.
    static let empty = TopicSnapshot(TopicIndex(), generation: 0)

    /// Adds a subscriber to a pattern; nil if the bus takes no more subscribers.
    func add(
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
            state.index.add(subscriber, id: state.lastID, to: topic)
            return SubscriberID(topic: topic, id: state.lastID)
        }
    }

    /// Takes a subscriber out; nil if it has been taken out already.
    func remove(_ subscriber: SubscriberID) -> Subscriber? {
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

    /// Reads URLs by another default scheme; patterns without a scheme keep the one that they had.
    func setDefaultScheme(_ scheme: String) {
        self.state.withLock { state in
            _ = state.outdate()
            state.index.setDefaultScheme(scheme)
            self.generation.add(1, ordering: .releasing)
        }
    }

    /// Takes all subscribers out, for good.
    func close() -> [Subscriber] {
        self.state.withLock { state in
            let subscribers = state.index.subscribers
            state = State()
            state.isClosed = true
            self.generation.add(1, ordering: .releasing)
            return subscribers
        }
    }

    /// The handlers of the subscribers that are code.
    var handlers: [Handler] {
        self.state.withLock { $0.index.subscribers }.compactMap(\.handler)
    }

    /// The subscribers whose pattern matches a URL now, from any thread.
    func matched(of url: String) throws(RoutingError) -> MatchedSubscribers {
        if let snapshot = self.snapshotIfWorthIt() { return try snapshot.matched(of: url) }
        return try self.state.withLock { state throws(RoutingError) in try state.index.matched(of: url) }
    }

    /// The index as it is now, unless it has changed so recently that a copy costs more than the lock.
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

/// The subscribers by pattern, as they were at one moment.
final class TopicSnapshot: Sendable {
    private let index: TopicIndex
    let generation: Int

    init(_ index: TopicIndex, generation: Int) {
        self.index = index
        self.generation = generation
    }

    /// Reads the index in place.
    func matched(of url: String) throws(RoutingError) -> MatchedSubscribers {
        try self.index.matched(of: url)
    }
}
