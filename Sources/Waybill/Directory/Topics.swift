internal import WaybillEventLoop
internal import WaybillRouting

/// Who subscribed to what.
///
/// Each pattern has a table of its own, since every one that matches counts, not the best.
final class Topics: Sendable {
    private let state = Locked(State())

    private struct State {
        var topics: [String: Topic] = [:]
        var nextID = 0
        var isClosed = false

        var handlers: [Handler] { self.topics.values.flatMap { $0.subscribers.map(\.handler) } }
    }

    private struct Topic {
        let pattern: RouteTable<Void>
        var subscribers: [(id: Int, handler: Handler)] = []
    }

    /// Adds a subscriber to a pattern, which comes as a table with that pattern alone; nil if nobody may come any more.
    func add(_ handler: Handler, to pattern: RouteTable<Void>, named name: String) -> Int? {
        self.state.withLock { state in
            guard !state.isClosed else { return nil }
            state.nextID += 1
            state.topics[name, default: Topic(pattern: pattern)].subscribers.append((state.nextID, handler))
            return state.nextID
        }
    }

    func remove(_ id: Int, named name: String) -> Handler? {
        self.state.withLock { state in
            guard let place = state.topics[name]?.subscribers.firstIndex(where: { $0.id == id }) else {
                return nil
            }
            let handler = state.topics[name]?.subscribers.remove(at: place).handler
            if state.topics[name]?.subscribers.isEmpty == true { state.topics[name] = nil }
            return handler
        }
    }

    /// Takes everybody out, for good.
    func close() -> [Handler] {
        self.state.withLock { state in
            defer { state.topics = [:] }
            state.isClosed = true
            return state.handlers
        }
    }

    /// Everybody who has subscribed.
    var handlers: [Handler] { self.state.withLock { $0.handlers } }

    /// Every subscriber of a URL, in the order of subscription.
    func find(_ url: String) throws(RoutingError) -> [Found] {
        try self.state.withLock { state throws(RoutingError) in
            var found: [(id: Int, found: Found)] = []
            for topic in state.topics.values {
                guard let match = try topic.pattern.match(url) else { continue }
                for (id, handler) in topic.subscribers {
                    found.append((id, Found(handler: handler, parameters: match.parameters)))
                }
            }
            return found.sorted { $0.id < $1.id }.map(\.found)
        }
    }
}
