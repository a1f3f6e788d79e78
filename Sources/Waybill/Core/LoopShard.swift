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
    private let topics: Topics
    private let subscribers: LoopSnapshot<Topics.Content>
    /// The URL that was published last, with its subscribers, which the next message often needs again.
    private let latestTopic: LoopLocal<LatestTopic>
    private let isForgetting = Atomic<Bool>(false)

    // Only the loop's thread writes these values. The values are atomic so that the compiler can check that
    // the class is Sendable.
    private let lastID = Atomic<UInt64>(CorrelationID.newBlock())
    private let frameHops = Atomic<Int>(Frame.noHandlerHops)
    private let frameExpiry = Atomic<Int64>(Deadline.never.nanoseconds)
    private let handled = Atomic<UInt64>(0)

    init(eventLoop: EventLoop, registry: RouteRegistry, empty: RouteSnapshot, topics: Topics) {
        self.eventLoop = eventLoop
        self.loop = ObjectIdentifier(eventLoop)
        self.heldLoop = HeldEventLoop(eventLoop)
        self.isolation = LoopIsolation(eventLoop)
        self.registry = registry
        self.routes = LoopSnapshot(of: registry.routes, empty: empty, on: eventLoop)
        self.topics = topics
        self.subscribers = LoopSnapshot(
            of: topics.versions,
            empty: Snapshot(Topics.Content()),
            on: eventLoop
        )
        self.latestTopic = LoopLocal(.none, on: eventLoop)
    }

    var isCurrent: Bool { self.heldLoop.isInEventLoop }

    func nextID() -> CorrelationID {
        let id = self.lastID.load(ordering: .relaxed) &+ 1
        self.lastID.store(id, ordering: .relaxed)
        return CorrelationID(rawValue: id)
    }
}

// The handler that is being called in place. The handler cannot suspend, but it may start a task that routes
// another message before the handler returns. Only the loop's thread may use these members.
extension LoopShard {
    /// The properties that messages inherit from the handler that is being called in place.
    struct Frame {
        /// The number of routed messages that led to the handler's message.
        let hops: Int
        let expiry: Deadline
        let id: UInt64

        fileprivate static let noHandlerHops = -1

        static let noHandler = Self(hops: Self.noHandlerHops, expiry: .never, id: 0)
    }

    /// Enters a frame, and returns the outer frame for ``setFrame(_:)``.
    @inline(__always)
    func enter(_ frame: Frame) -> Frame {
        let outer = Frame(
            hops: self.hops,
            expiry: self.expiry,
            id: self.handled.load(ordering: .relaxed)
        )
        self.setFrame(frame)
        return outer
    }

    /// Replaces the current frame, for example by the outer frame that ``enter(_:)`` returned.
    @inline(__always)
    func setFrame(_ frame: Frame) {
        self.frameHops.store(frame.hops, ordering: .relaxed)
        self.frameExpiry.store(frame.expiry.nanoseconds, ordering: .relaxed)
        self.handled.store(frame.id, ordering: .relaxed)
    }

    /// Whether a handler is being called in place, below the calling code on the stack.
    var isCalling: Bool { self.hops != Frame.noHandlerHops }

    /// The number of routed messages that led to the message of the handler that is being called in place.
    var hops: Int { self.frameHops.load(ordering: .relaxed) }

    /// The deadline of the message whose handler is being called in place.
    var expiry: Deadline { Deadline(nanoseconds: self.frameExpiry.load(ordering: .relaxed)) }

    /// The ID of the message whose handler is being called in place, or nil.
    var handledMessage: CorrelationID? {
        let id = self.handled.load(ordering: .relaxed)
        return id == 0 ? nil : CorrelationID(rawValue: id)
    }
}

extension LoopShard.Frame {
    @inline(__always)
    init(of message: borrowing Message) {
        self.init(hops: message.hops, expiry: message.expiry, id: message.id.rawValue)
    }
}

// The snapshots of the routes and the subscribers. Only the loop's thread may use these members.
extension LoopShard {
    /// The current routes; nil when the table has changed so recently that a lookup under the lock costs less
    /// than a copy.
    var currentSnapshot: RouteSnapshot? { self.routes.current }

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
        self.replaceLatestTopic(with: .none)
    }

    /// Returns the current subscribers of a URL, and the address of a URL that has no subscribers.
    func matched(of url: String) throws(RoutingError) -> (MatchedSubscribers, Address?) {
        guard let snapshot = self.subscribers.current else {
            let matched = try self.topics.matched(of: url)
            return (matched, matched.isEmpty ? try self.registry.address(of: url) : nil)
        }
        let latest = self.latestTopic.load()
        if latest.generation == snapshot.generation, latest.url.hasSameBytes(as: url) {
            return (latest.matched, latest.address)
        }
        let matched = try snapshot.table.matched(of: url)
        let address = matched.isEmpty ? try self.registry.address(of: url) : nil
        let topic = LatestTopic(
            url: url,
            matched: matched,
            address: address,
            generation: snapshot.generation
        )
        self.replaceLatestTopic(with: topic)
        return (matched, address)
    }

    private func replaceLatestTopic(with topic: LatestTopic) {
        // Keep the old value alive until the new one is stored. The deinitializer of a subscriber may use
        // this shard.
        let old = self.latestTopic.load()
        self.latestTopic.store(topic)
        _ = consume old
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
