internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

/// The state of a bus on one loop: a snapshot of the routes, the next message ID, and the loop's counters.
///
/// Because of this state, the routing of a message on the loop takes no lock and shares no memory with
/// another thread.
@usableFromInline
final class LoopShard: Sendable {
    let eventLoop: EventLoop
    let loop: ObjectIdentifier
    let heldLoop: HeldEventLoop
    let counters = Counters()
    let isolation: LoopIsolation
    let registry: RouteRegistry
    private let routes: LoopSnapshot<Routes>
    private let subscribers: LoopSnapshot<Topics.Content>
    /// The URL that was published last, with its subscribers, which the next message often needs again.
    private let latestTopic: LoopLocal<LatestTopic>
    private let isForgetting = Atomic<Bool>(false)
    /// The message whose handler is being called in place, below the calling code on the stack, or nil.
    ///
    /// The handler cannot suspend, but it may start a task that routes another message before the handler
    /// returns.
    let handled: LoopLocal<HandledMessage?>

    /// The latest message ID, which only the loop's thread writes; atomic, so that the class is Sendable.
    private let lastID = Atomic<UInt64>(CorrelationID.newBlock())

    init(eventLoop: EventLoop, registry: RouteRegistry, empty: Snapshot<Routes>, topics: Topics) {
        self.eventLoop = eventLoop
        self.loop = ObjectIdentifier(eventLoop)
        self.heldLoop = HeldEventLoop(eventLoop)
        self.isolation = LoopIsolation(eventLoop)
        self.registry = registry
        self.routes = LoopSnapshot(of: registry.routes, empty: empty, on: eventLoop)
        self.subscribers = LoopSnapshot(of: topics.versions, empty: Snapshot(Topics.Content()), on: eventLoop)
        self.latestTopic = LoopLocal(.none, on: eventLoop)
        self.handled = LoopLocal(nil, on: eventLoop)
    }

    var isCurrent: Bool { self.heldLoop.isInEventLoop }

    func nextID() -> CorrelationID {
        let id = self.lastID.load(ordering: .relaxed) &+ 1
        self.lastID.store(id, ordering: .relaxed)
        return CorrelationID(rawValue: id)
    }
}

// The snapshots of the routes and the subscribers. Only the loop's thread may use these members.
extension LoopShard {
    /// The current routes; nil when the table has changed so recently that a lookup under the lock costs less
    /// than a copy.
    var currentSnapshot: Snapshot<Routes>? { self.routes.current }

    /// Releases the handlers that have been unregistered, even if no message is ever routed on this loop
    /// again.
    func forget() {
        if self.isCurrent {
            self.forgetHere()
        } else if !self.isForgetting.exchange(true, ordering: .acquiringAndReleasing) {
            self.eventLoop.execute {
                self.isForgetting.store(false, ordering: .releasing)
                self.forgetHere()
            }
        }
    }

    private func forgetHere() {
        self.routes.forget()
        self.subscribers.forget()
        self.latestTopic.store(.none)
    }

    /// Returns the current subscribers of a URL, and the address of a URL that has no subscribers.
    ///
    /// Returns nil when a lookup under the lock costs less than a copy of the subscribers.
    func subscribers(matching url: String) throws(RoutingError) -> (MatchedSubscribers, Address?)? {
        guard let snapshot = self.subscribers.current else { return nil }
        let latest = self.latestTopic.load()
        if latest.generation == snapshot.generation, latest.url.hasSameBytes(as: url) {
            return (latest.matched, latest.address)
        }
        let matched = try snapshot.table.subscribers(matching: url)
        let address = matched.isEmpty ? try self.registry.address(of: url) : nil
        let topic = LatestTopic(url: url, matched: matched, address: address, generation: snapshot.generation)
        self.latestTopic.store(topic)
        return (matched, address)
    }
}

/// The shard of a loop, held by a reference that is not counted.
///
/// A counted reference to a shard would be retained and released in each step of a delivery. The counting
/// takes longer than the step. Only a ``BusCore`` and its handlers create this value, because a core retains
/// its shards as long as the core exists, and a handler retains its core.
///
/// The steps of a delivery receive the shard of the calling thread's loop, or nil when the thread runs no
/// loop of the bus.
@safe
struct BorrowedShard: Sendable {
    private let shard: Unretained<LoopShard>

    init(_ shard: LoopShard) { self.shard = Unretained(shard) }

    /// Calls a closure with the shard.
    @inline(__always)
    func with<Result>(_ body: (LoopShard) -> Result) -> Result {
        // The core that created this value retains the shard, and the caller retains the core.
        unsafe self.shard.withUnsafeObject(body)
    }

    /// The shard as a counted reference.
    var retained: LoopShard { self.with { $0 } }

    var loop: ObjectIdentifier { self.with { $0.loop } }

    var isolation: LoopIsolation { self.with { $0.isolation } }

    var currentSnapshot: Snapshot<Routes>? { self.with { $0.currentSnapshot } }

    var isCurrent: Bool { self.with { $0.isCurrent } }

    var handledMessage: HandledMessage? { self.with { $0.handled.load() } }

    /// Counts a message as sent, and returns its ID.
    func nextMessage() -> CorrelationID {
        self.with {
            $0.counters.sent.increment()
            return $0.nextID()
        }
    }

    func count(_ kind: Outcome.Kind) { self.with { $0.counters.ended.count(kind) { $0.increment() } } }

    /// Counts one delivery, and returns whether the caller is on the loop and may continue without suspending.
    func consumeDeliveryBudgetIfOnLoop() -> Bool { self.with { $0.heldLoop.consumeDeliveryBudgetIfOnLoop() } }

    /// Replaces the message whose handler is being called in place, and returns the previous message.
    @inline(__always)
    @discardableResult
    func exchangeHandledMessage(_ message: HandledMessage?) -> HandledMessage? {
        self.with { $0.handled.exchange(message) }
    }
}

/// The properties of a message that messages of its handler inherit.
struct HandledMessage {
    let id: CorrelationID
    /// The number of routed messages that led to the message.
    let hops: Int
    let expiry: Deadline

    @inline(__always)
    init(_ message: borrowing Message) {
        self.id = message.id
        self.hops = message.hops
        self.expiry = message.expiry
    }
}

/// A URL and its subscribers.
private final class LatestTopic: Sendable {
    let url: String
    let matched: MatchedSubscribers
    /// The address of the URL; nil when the URL has subscribers.
    let address: Address?
    /// The generation of the snapshot in which the subscribers were found.
    let generation: Int

    /// An entry of no generation.
    static let none = LatestTopic(url: "", matched: MatchedSubscribers(), address: nil, generation: -1)

    init(url: String, matched: MatchedSubscribers, address: Address?, generation: Int) {
        self.url = url
        self.matched = matched
        self.address = address
        self.generation = generation
    }
}

/// An actor on a loop, for tasks that run on the loop and need an actor.
actor LoopIsolation: LoopBound {
    nonisolated let eventLoop: EventLoop

    init(_ eventLoop: EventLoop) { self.eventLoop = eventLoop }
}
