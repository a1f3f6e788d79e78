internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

extension Lane {
    /// Everybody who has subscribed to a URL, as it is now.
    func audience(of url: String) throws(RoutingError) -> Audience {
        let generation = self.topics.generation.load(ordering: .acquiring)
        if self.topicSnapshot.withUnretained({ $0.generation }) != generation {
            guard let snapshot = self.topics.snapshotIfWorthIt() else {
                return try self.topics.audience(of: url)
            }
            self.use(snapshot)
        }
        return try self.topicSnapshot.load().audience(of: url)
    }

    func use(_ snapshot: TopicSnapshot) {
        let old = self.topicSnapshot.load()
        self.topicSnapshot.store(snapshot)
        // What the last holder of a subscriber lets go of may use the bus, and so this lane.
        _ = consume old
    }
}
