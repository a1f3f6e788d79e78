internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

/// What a bus keeps on one loop, so that a route there takes no lock and shares no memory with another
/// thread: the routes as the loop last saw them, the next ID, and the loop's share of the statistics.
@usableFromInline
final class LoopShard: Sendable {
    let eventLoop: EventLoop
    let loop: ObjectIdentifier
    let heldLoop: HeldEventLoop
    let counters = Counters()
    let isolation: LoopIsolation
    let registry: RouteRegistry
    let snapshot: LoopLocal<RouteSnapshot>
    let topics: Topics
    let topicSnapshot: LoopLocal<TopicSnapshot>
    /// The URL that was looked up last in that snapshot: what is published often is published to few of them.
    let latestTopic: LoopLocal<LatestTopic>
    private let empty: RouteSnapshot

    /// Snapshots that were replaced while a handler of theirs may have been called in place, until the loop
    /// turns.
    let replaced: LoopLocal<[RouteSnapshot]>

    /// How many handlers are being called in place below code that has a context of its own.
    let covered = Atomic<Int>(0)

    /// How many messages use a snapshot while they meet middlewares.
    let pins = Atomic<Int>(0)

    /// That snapshot, if it has been replaced meanwhile, and whether it has.
    let pinned: LoopLocal<RouteSnapshot?>
    let isKeeping = Atomic<Bool>(false)

    private let isForgetting = Atomic<Bool>(false)

    // Written by the loop's thread only; atomic so that the compiler can check it.
    private let lastID = Atomic<UInt64>(CorrelationID.newBlock())

    /// How many routes led to the handler that is being called in place.
    ///
    /// It cannot suspend, but it may start a task in place that routes on; of several this is the innermost
    /// one's.
    private let hops = Atomic<Int>(LoopShard.noHandler)
    static let noHandler = -1

    /// When that handler's caller stops waiting, in nanoseconds.
    private let expiry = Atomic<Int64>(Deadline.never.nanoseconds)

    /// Which message that handler has, where middlewares are: observers learn from it what a handler sends.
    let handled = Atomic<UInt64>(0)

    /// Whether a handler is being called in place, below the calling code on the stack; for the loop's
    /// thread.
    @inline(__always)
    var isCalling: Bool { self.hops.load(ordering: .relaxed) != Self.noHandler }

    init(eventLoop: EventLoop, registry: RouteRegistry, snapshot: RouteSnapshot, topics: Topics) {
        self.eventLoop = eventLoop
        self.loop = ObjectIdentifier(eventLoop)
        self.heldLoop = HeldEventLoop(eventLoop)
        self.isolation = LoopIsolation(eventLoop)
        self.registry = registry
        self.snapshot = LoopLocal(snapshot, on: eventLoop)
        self.empty = snapshot
        self.replaced = LoopLocal([], on: eventLoop)
        self.pinned = LoopLocal(nil, on: eventLoop)
        self.topics = topics
        self.topicSnapshot = LoopLocal(Topics.empty, on: eventLoop)
        self.latestTopic = LoopLocal(.none, on: eventLoop)
    }

    /// Whether the calling thread runs the shard's loop.
    @inline(__always)
    var isCurrent: Bool { self.heldLoop.isInEventLoop }

    /// What is noted while a handler is called in place: what its messages inherit.
    struct InPlace {
        let hops: Int
        let expiry: Deadline

        static let noHandler = Self(hops: LoopShard.noHandler, expiry: .never)
    }

    /// Notes that a handler is called in place; for the loop's thread.
    ///
    /// - Returns: what has to be noted again when it has returned.
    @inline(__always)
    func begin(_ inPlace: InPlace) -> InPlace {
        let outer = InPlace(
            hops: self.hops.load(ordering: .relaxed),
            expiry: self.expiryInPlace
        )
        self.end(inPlace)
        return outer
    }

    @inline(__always)
    func end(_ outer: InPlace) {
        self.hops.store(outer.hops, ordering: .relaxed)
        self.expiry.store(outer.expiry.nanoseconds, ordering: .relaxed)
    }

    /// What a message that is sent here and now inherits.
    var inherited: DeliveryContext? {
        guard let hops = self.hopsInPlace else { return DeliveryContext.current }
        return .record(ContextRecord(hops: hops, expiry: self.expiryInPlace))
    }

    /// When the caller of the handler that is being called in place stops waiting, if one is and ever does.
    @inline(__always)
    var expiryInPlace: Deadline { Deadline(nanoseconds: self.expiry.load(ordering: .relaxed)) }

    /// How many routes led to the handler that is being called in place, if one is.
    @inline(__always)
    var hopsInPlace: Int? {
        let hops = self.hops.load(ordering: .relaxed)
        return hops == Self.noHandler ? nil : hops
    }

    @inline(__always)
    func nextID() -> CorrelationID {
        let id = self.lastID.load(ordering: .relaxed) &+ 1
        self.lastID.store(id, ordering: .relaxed)
        return CorrelationID(rawValue: id)
    }

    /// Whether the routes have changed since the loop last saw them.
    @inline(__always)
    var isOutdated: Bool {
        // For the loop's thread, as the whole shard; nothing here replaces the snapshot.
        unsafe self.snapshot.withUnsafeObject { $0.generation }
            != self.registry.generation.load(ordering: .acquiring)
    }

    /// Whether the loop has seen the routes as they are, and no middleware intercepts deliveries.
    @inline(__always)
    var isPlain: Bool {
        // For the loop's thread, as the whole shard; nothing here replaces the snapshot.
        unsafe self.snapshot.withUnsafeObject { $0.plainGeneration }
            == self.registry.generation.load(ordering: .acquiring)
    }

    /// Whether there are middlewares around deliveries.
    @inline(__always)
    var isIntercepted: Bool {
        if self.isOutdated, !self.catchUp() { return self.registry.chain != nil }
        // For the loop's thread, as the whole shard; nothing here replaces the snapshot.
        return unsafe self.snapshot.withUnsafeObject { !$0.isPlain }
    }

    /// The middlewares around deliveries, as they are now.
    var chain: MiddlewareChain? {
        if self.isOutdated, !self.catchUp() { return self.registry.chain }
        // For the loop's thread, as the whole shard; nothing here replaces the snapshot.
        return unsafe self.snapshot.withUnsafeObject { $0.chain }
    }

    /// Looks a URL up, in the routes as they are now.
    func find(_ url: String, _ passed: PassedValues?) throws(RoutingError) -> ResolvedRoute {
        if self.isOutdated, !self.catchUp() {
            return try self.registry.find(url, passed, on: self.loop)
        }
        return try self.snapshot.load().find(url, passed, on: self.loop)
    }

    /// Has the loop see the routes as they are; false if the table has changed too recently to be worth a
    /// copy.
    private func catchUp() -> Bool {
        guard let snapshot = self.registry.snapshotIfWorthIt() else { return false }
        self.use(snapshot)
        return true
    }

    /// Releases the handlers that have been unregistered, although no message may ever be routed here again.
    func forget() {
        if self.isCurrent {
            self.use(self.empty)
            self.use(Topics.empty)
        } else if !self.isForgetting.exchange(true, ordering: .acquiringAndReleasing) {
            self.eventLoop.execute {
                self.isForgetting.store(false, ordering: .releasing)
                self.use(self.empty)
                self.use(Topics.empty)
            }
        }
    }
}

/// An actor on a loop, where an actor has to be named, as for a task that runs on it.
actor LoopIsolation: LoopBound {
    nonisolated let eventLoop: EventLoop

    init(_ eventLoop: EventLoop) { self.eventLoop = eventLoop }
}
