#if HTTP
internal import Waybill
internal import WaybillEventLoop
internal import WaybillRouting

/// The name of a feed: the pattern of its messages, and their format.
struct FeedName: Hashable, Sendable {
    let pattern: ExactText
    /// The `source` attribute of CloudEvents events; nil for a feed of plain messages.
    let source: ExactText?
}

/// The membership of a client in a feed, which the client leaves when this object is released.
final class FeedClient: Sendable {
    let feed: EventFeed
    /// The number of the last message before the client was added.
    let number: Int
    private let client: String?
    private let feeds: EventFeeds

    fileprivate init(_ feed: EventFeed, client: String?, feeds: EventFeeds) {
        self.feed = feed
        self.number = feed.enter()
        self.client = client
        self.feeds = feeds
    }

    deinit { self.feeds.leave(self.feed, self.client) }
}

/// The feeds of a gateway, by name.
///
/// If a client knows the ID of an event, it can resume the feed, so the feed is kept for a while without
/// clients. Every other feed ends when its last client leaves. When there are too many feeds, a new feed
/// replaces the feed that has been without clients for the longest time.
final class EventFeeds: Sendable {
    private struct State {
        var feeds: [FeedName: EventFeed] = [:]
        /// The feeds without clients, ordered by the time at which the last client left.
        var absences: [Absence] = []
        /// Whether a task waits until the first feed without clients must end.
        var isReaping = false

        /// Removes the feed that has been without clients for the longest time.
        ///
        /// If `client` is not nil, the method considers only feeds whose last client had this address.
        mutating func removeOldestAbsence(of client: String? = nil) -> EventFeed? {
            let index = self.absences.firstIndex { client == nil || $0.client == client }
            guard let feed = index.map({ self.absences.remove(at: $0).feed }) else { return nil }
            self.feeds[feed.name] = nil
            return feed
        }
    }

    private struct Absence {
        let feed: EventFeed
        /// The address of the client that left last; nil if the address is unknown.
        let client: String?
        let end: ContinuousClock.Instant
    }

    private let bus: MessageBus
    private let configuration: WaybillGateway.Configuration
    let store: EventStore
    private let state = Locked(State())

    init(_ bus: MessageBus, _ configuration: WaybillGateway.Configuration) {
        self.bus = bus
        self.configuration = configuration
        self.store = EventStore(
            limit: configuration.replayBytes,
            limitsClients: configuration.streamsPerClient != nil
        )
    }

    var count: Int { self.state.withLock { $0.feeds.count } }

    /// Adds a client to a feed, and creates the feed for its first client.
    ///
    /// - Throws: A `RoutingError` when the pattern cannot be subscribed to, or when there are too many feeds.
    func enter(_ name: FeedName, from client: String?) throws(RoutingError) -> FeedClient {
        if let present = try self.place(in: name, client) { return present }
        // Parsing a pattern takes time, so parse the pattern without holding the lock.
        let messages = try self.bus.externalMessages(of: name.pattern.text)
        let feed = EventFeed(
            name,
            messages: messages,
            limit: self.configuration.replayLimit,
            store: self.store
        )
        do throws(RoutingError) {
            guard let place = try self.place(in: name, client, adding: feed) else {
                preconditionFailure("internal error: a new feed was not added")
            }
            if place.feed === feed { self.run(feed) } else { feed.cancel() }
            return place
        } catch {
            feed.cancel()
            throw error
        }
    }

    /// Adds a client to the feed with a name, after adding `feed` if no feed has the name.
    ///
    /// The result is nil when the feed does not exist and none was given.
    private func place(
        in name: FeedName,
        _ client: String?,
        adding feed: EventFeed? = nil
    ) throws(RoutingError) -> FeedClient? {
        var evicted: EventFeed?
        defer { evicted?.cancel() }
        return try self.state.withLock { state throws(RoutingError) in
            if let present = state.feeds[name] {
                state.absences.removeAll { $0.feed === present }
                return FeedClient(present, client: client, feeds: self)
            }
            if state.feeds.count >= self.configuration.streamLimit {
                guard !state.absences.isEmpty else {
                    let message = "the server has too many subscriptions: try again later"
                    throw RoutingError(.mailboxFull, url: name.pattern.text, message: message)
                }
                if feed != nil { evicted = state.removeOldestAbsence() }
            }
            guard let feed else { return nil }
            state.feeds[name] = feed
            return FeedClient(feed, client: client, feeds: self)
        }
    }

    private func run(_ feed: EventFeed) {
        Task {
            await feed.run()
            self.remove(feed)
        }
    }

    /// Removes a client from its feed.
    fileprivate func leave(_ feed: EventFeed, _ client: String?) {
        var (ended, starts) = (nil as EventFeed?, false)
        self.state.withLock { state in
            guard feed.leave(), state.feeds[feed.name] === feed else { return }
            guard feed.isResumable else {
                state.feeds[feed.name] = nil
                ended = feed
                return
            }
            let end = ContinuousClock.now + self.configuration.replayTime
            state.absences.append(Absence(feed: feed, client: client, end: end))
            if let client, let limit = self.configuration.streamsPerClient,
                state.absences.count(where: { $0.client == client }) > limit
            {
                ended = state.removeOldestAbsence(of: client)
            }
            starts = !state.isReaping
            state.isReaping = true
        }
        ended?.cancel()
        if starts { Task { await self.reap() } }
    }

    /// Ends the feeds to which no client has returned in time, until no feed is without clients.
    private func reap() async {
        while let end = self.endOfFirstAbsence {
            try? await Task.sleep(until: end)
            for feed in self.takeOverdue() { feed.cancel() }
        }
    }

    private var endOfFirstAbsence: ContinuousClock.Instant? {
        self.state.withLock { state in
            let end = state.absences.first?.end
            state.isReaping = end != nil
            return end
        }
    }

    private func takeOverdue() -> [EventFeed] {
        let now = ContinuousClock.now
        return self.state.withLock { state in
            var overdue: [EventFeed] = []
            while let first = state.absences.first, first.end <= now, let feed = state.removeOldestAbsence() {
                overdue.append(feed)
            }
            return overdue
        }
    }

    /// Removes a feed whose subscription has ended.
    private func remove(_ feed: EventFeed) {
        self.state.withLock { state in
            guard state.feeds[feed.name] === feed else { return }
            state.feeds[feed.name] = nil
            state.absences.removeAll { $0.feed === feed }
        }
    }
}
#endif
