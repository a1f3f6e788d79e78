internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

// A handler that is called in place, and a message that meets middlewares, use what the loop's snapshot holds
// and count no reference to it, which takes as long as a middleware does. So a snapshot that is replaced
// meanwhile is kept until no code can be using it. All of this is for the loop's thread.
extension LoopShard {
    /// Has the loop see other routes.
    func use(_ snapshot: RouteSnapshot) {
        let old = self.snapshot.load()
        self.snapshot.store(snapshot)
        if self.pins.load(ordering: .relaxed) > 0, !self.isKeeping.load(ordering: .relaxed) {
            self.pinned.store(old)
            self.isKeeping.store(true, ordering: .relaxed)
        }
        if self.isCalling || self.covered.load(ordering: .relaxed) > 0 {
            self.replaced.store(self.replaced.load() + [old])
            self.letGoLater()
        }
        // Releasing the last reference to a handler may use the bus, and so this shard.
        _ = consume old
    }

    /// Keeps the loop's snapshot until ``unpin()``.
    ///
    /// - Returns: false if a reference has to be counted instead: while a replaced snapshot is kept no
    ///   further message pins, so that it is released when the messages that did have ended, however many
    ///   follow.
    @inline(__always)
    func pin() -> Bool {
        guard !self.isKeeping.load(ordering: .relaxed) else { return false }
        self.pins.store(self.pins.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
        return true
    }

    @inline(__always)
    func unpin() {
        let pins = self.pins.load(ordering: .relaxed) &- 1
        self.pins.store(pins, ordering: .relaxed)
        if pins == 0, self.isKeeping.load(ordering: .relaxed) { self.letGoLater() }
    }

    /// Releases the replaced snapshots, when nothing of the bus is on the stack any more.
    @inline(never)
    private func letGoLater() {
        self.eventLoop.execute {
            assert(!self.isCalling, "a loop runs nothing below a handler")
            let old = self.replaced.load()
            self.replaced.store([])
            if self.pins.load(ordering: .relaxed) == 0 {
                let pinned = self.pinned.load()
                self.pinned.store(nil)
                self.isKeeping.store(false, ordering: .relaxed)
                _ = consume pinned
            }
            _ = consume old
        }
    }
}

extension LoopShard {
    /// The subscribers of a URL, as they are now, and its address if it has none.
    func matched(of url: String) throws(RoutingError) -> (MatchedSubscribers, Address?) {
        let generation = self.topics.generation.load(ordering: .acquiring)
        // For the loop's thread, as the whole shard; nothing here replaces the snapshot.
        if unsafe self.topicSnapshot.withUnsafeObject({ $0.generation }) != generation {
            guard let snapshot = self.topics.snapshotIfWorthIt() else {
                let matched = try self.topics.matched(of: url)
                return (matched, matched.isEmpty ? try self.address(of: url) : nil)
            }
            self.use(snapshot)
        }
        // For the same reason.
        if !url.isEmpty, unsafe self.latestTopic.withUnsafeObject({ $0.url.hasSameBytes(as: url) }) {
            let latest = self.latestTopic.load()
            return (latest.matched, latest.address)
        }
        let matched = try self.topicSnapshot.load().matched(of: url)
        let address = matched.isEmpty ? try self.address(of: url) : nil
        self.latestTopic.store(LatestTopic(url: url, matched: matched, address: address))
        return (matched, address)
    }

    private func address(of url: String) throws(RoutingError) -> Address {
        try self.registry.read { table throws(RoutingError) in try table.address(of: url) }
    }

    func use(_ snapshot: TopicSnapshot) {
        let old = self.topicSnapshot.load()
        let oldLatest = self.latestTopic.load()
        self.topicSnapshot.store(snapshot)
        self.latestTopic.store(.none)
        // Releasing the last reference to a subscriber may use the bus, and so this shard.
        _ = consume old
        _ = consume oldLatest
    }
}

/// A URL and its subscribers.
final class LatestTopic: Sendable {
    let url: String
    let matched: MatchedSubscribers
    /// The URL's address, if it has none.
    let address: Address?

    /// No URL is empty.
    static let none = LatestTopic(url: "", matched: MatchedSubscribers(), address: nil)

    init(url: String, matched: MatchedSubscribers, address: Address?) {
        self.url = url
        self.matched = matched
        self.address = address
    }
}
