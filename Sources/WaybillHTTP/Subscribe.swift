#if HTTP
internal import Hummingbird
internal import Waybill
internal import WaybillEventLoop
internal import WaybillRouting

extension WaybillGateway {
    /// Answers with the messages of a pattern as events.
    func subscribe(_ request: Request) async throws -> Response {
        let query = try GatewayRequest.parameters(form: Array((request.uri.query ?? "").utf8))
        guard let pattern = query["pattern"] as? String, !pattern.isEmpty else {
            throw Problem(.badRequest, "`pattern` says what to subscribe to: ?pattern=app://prices/**")
        }
        let format = query["format"] as? String ?? "json"
        guard ["json", "cloudevents"].contains(format) else {
            throw Problem(.badRequest, "`format` is json or cloudevents")
        }
        let lastID = request.headers[.lastEventID]
        let feeds = self.feeds
        let client: FeedClient
        do throws(RoutingError) {
            client = try feeds.enter(
                FeedName(pattern: pattern, source: format == "json" ? nil : request.source)
            )
        } catch {
            if error.code == .invalidPattern { throw Problem(.badRequest, error.message) }
            throw error
        }
        return try self.streams.response(to: request) { sink in
            await client.feed.send(after: client.number, or: lastID, to: sink)
        }
    }
}

/// Which messages a feed has, and how.
struct FeedName: Hashable, Sendable {
    let pattern: String
    /// What messages come from as events of CloudEvents; nil for messages as they are.
    let source: String?
}

/// One client of a feed, which leaves when this is released.
final class FeedClient: Sendable {
    let feed: EventFeed
    /// The number of the last message before the client came.
    let number: Int
    private let feeds: EventFeeds

    fileprivate init(_ feed: EventFeed, _ feeds: EventFeeds) {
        self.feed = feed
        self.number = feed.enter()
        self.feeds = feeds
    }

    deinit { self.feeds.leave(self.feed) }
}

/// The feeds of a gateway by name.
final class EventFeeds: Sendable {
    private let bus: MessageBus
    private let configuration: WaybillGateway.Configuration
    private let feeds = Locked<[FeedName: EventFeed]>([:])

    init(_ bus: MessageBus, _ configuration: WaybillGateway.Configuration) {
        self.bus = bus
        self.configuration = configuration
    }

    /// A client more for a feed.
    func enter(_ name: FeedName) throws(RoutingError) -> FeedClient {
        try self.feeds.withLock { feeds throws(RoutingError) in
            if let feed = feeds[name] { return FeedClient(feed, self) }
            guard feeds.count < self.configuration.streamLimit else {
                throw RoutingError(
                    .mailboxFull,
                    url: name.pattern,
                    message: "there are too many subscriptions"
                )
            }
            let messages = try self.bus.externalMessages(of: name.pattern)
            let feed = EventFeed(name, messages, limit: self.configuration.replayLimit)
            let client = FeedClient(feed, self)
            feeds[name] = feed
            Task {
                await feed.run()
                self.remove(feed)
            }
            return client
        }
    }

    /// Ends the feed of a client that has gone, if none comes back in time.
    func leave(_ feed: EventFeed) {
        guard let absence = feed.leave() else { return }
        let time = self.configuration.replayTime
        Task {
            try? await Task.sleep(for: time)
            self.remove(feed) { feed.isUnused(since: absence) }
        }
    }

    /// Takes a feed out, and ends it, if something still holds when no client can enter.
    private func remove(_ feed: EventFeed, if condition: @Sendable () -> Bool = { true }) {
        let isRemoved = self.feeds.withLock { feeds in
            guard feeds[feed.name] === feed, condition() else { return false }
            feeds[feed.name] = nil
            return true
        }
        if isRemoved { feed.cancel() }
    }
}
#endif
