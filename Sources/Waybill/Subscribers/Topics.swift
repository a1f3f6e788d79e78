internal import WaybillRouting

/// The subscribers of a bus, which its loops read without a lock.
final class Topics: Sendable {
    let versions = Versioned(Content())

    /// The subscribers, and the numbers of the topics in their index.
    struct Content: VersionedValue {
        fileprivate(set) var table = TopicIndex()
        fileprivate var numbers: [RoutePattern: Int] = [:]
        fileprivate var lastID = 0
        fileprivate var isClosed = false

        var count: Int { self.table.count }
    }

    /// The topic and the ID by which the index finds a subscriber.
    typealias SubscriberID = (topic: Int, id: Int)

    /// Adds a subscriber to a pattern, or returns nil when the bus accepts no more subscribers.
    func subscribe(
        _ subscriber: Subscriber,
        to pattern: RoutePattern,
        _ makeTable: () -> RouteTable<Int>
    ) throws(RoutingError) -> SubscriberID? {
        try self.versions.change { content throws(RoutingError) in
            guard !content.isClosed else { return nil }
            let known = content.numbers[pattern]
            let topic =
                if let known { known } else { try content.table.insert(pattern, makeTable: makeTable) }
            content.numbers[pattern] = topic
            content.lastID += 1
            content.table.insert(subscriber, id: content.lastID, to: topic)
            return (topic, content.lastID)
        }
    }

    /// Removes and returns a subscriber, or returns nil when the subscriber has been removed already.
    func unsubscribe(_ subscriber: SubscriberID) -> Subscriber? {
        self.versions.change { content in
            let removed = content.table.remove(id: subscriber.id, from: subscriber.topic)
            if let pattern = removed?.topic { content.numbers[pattern] = nil }
            return removed?.subscriber
        }
    }

    /// Sets the default scheme of URLs, but not of the patterns that are already subscribed.
    func setDefaultScheme(_ scheme: String) { self.versions.change { $0.table.setDefaultScheme(scheme) } }

    /// Removes and returns all subscribers, after which no subscriber can be added.
    func close() -> [Subscriber] {
        self.versions.change { content in
            let subscribers = content.table.subscribers
            content = Content()
            content.isClosed = true
            return subscribers
        }
    }

    /// The handlers of the subscribers that are code and not buffers.
    var handlers: [Handler] { self.versions.readUnderLock { $0.table.subscribers }.compactMap(\.handler) }

    /// Returns the subscribers whose patterns currently match a URL, on any thread.
    func subscribers(matching url: String) throws(RoutingError) -> MatchedSubscribers {
        try self.versions.read { content throws(RoutingError) in
            try content.table.subscribers(matching: url)
        }
    }
}
