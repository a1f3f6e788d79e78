internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

extension BusCore {
    /// Gives a request to every subscriber at once and counts those that took it.
    ///
    /// - Parameters:
    ///   - request: what is published.
    ///   - isExternal: whether a peer says so, which cannot pass another value for what the path says.
    /// - Returns: how many took it.
    /// - Throws: `invalidURL`, `shutDown`, or `deadlineExceeded`.
    nonisolated(nonsending) func publish(
        _ request: consuming Request,
        isExternal: Bool = false
    ) async throws(RoutingError) -> Int {
        let request = request.inheriting(on: self.currentShard)
        await EventLoop.yieldIfDue()
        let begun: Publication?
        do throws(RoutingError) {
            begun = try self.beginPublishing(request, isExternal: isExternal)
        } catch {
            await self.yieldThread()
            throw error
        }
        guard var publication = begun else {
            await self.yieldThread()
            return 0
        }
        while !self.deliver(&publication) { await EventLoop.yieldIfDue() }
        if publication.isAwaited { return await self.taken(publication) }
        // A publisher that never has to wait would hold a thread of the global pool for as long as it
        // publishes.
        await self.yieldThread()
        return publication.taken
    }

    /// Looks up what a request is published to, and publishes it to other nodes.
    ///
    /// - Returns: the publication to the subscribers of this process; nil if there are none.
    /// - Throws: `invalidURL`, `shutDown`, or `deadlineExceeded`.
    @inline(__always)
    func beginPublishing(
        _ request: consuming Request,
        isExternal: Bool
    ) throws(RoutingError) -> Publication? {
        if let error = self.rejection(of: request) { throw error }
        let (matched, address) = try self.matched(of: request.url)
        if isExternal { request = self.keepingPath(request, to: matched.parameters) }
        var isElsewhere = false
        if self.publishesToNodes.load(ordering: .relaxed) {
            isElsewhere = self.publishToNodes(request, address)
        }
        if matched.isEmpty {
            if !isElsewhere, self.uncaught.withLock({ $0?.includesPublished }) == true,
                let message = self.unmatched(request, id: self.nextID())
            {
                self.tellUncaught(message, isPublished: true)
            }
            return nil
        }
        let chain = self.registry.chain
        if chain?.isObserved == true { request = request.noting(.publication, on: self) }
        return Publication(request, for: matched, around: chain)
    }

    /// Goes on with a publication that its publisher cannot end at once.
    nonisolated(nonsending) func resume(_ publication: consuming Publication) async -> Int {
        var publication = publication
        while !publication.isDelivered {
            await EventLoop.yieldIfDue()
            if self.deliver(&publication) { break }
        }
        return await self.taken(publication)
    }

    /// Waits for the subscribers that need time, and returns the number of subscribers that took the message.
    @inline(never)
    private nonisolated(nonsending) func taken(_ publication: consuming Publication) async -> Int {
        for exchange in publication.exchanges where await exchange.listen(noListener).isReply {
            publication.taken += 1
        }
        for queued in publication.queued where await self.wait(for: queued) { publication.taken += 1 }
        return publication.taken
    }

    /// The subscribers of a URL, and its address if it has none.
    private func matched(of url: String) throws(RoutingError) -> (MatchedSubscribers, Address?) {
        if let shard = self.currentShard { return try shard.retained.matched(of: url) }
        let matched = try self.topics.matched(of: url)
        return (matched, matched.isEmpty ? try self.address(of: url) : nil)
    }

    /// Gives the message to the subscribers, one after the other; none of them can suspend the caller.
    ///
    /// - Returns: whether all had their turn; if not, the loop has to poll first.
    func deliver(_ publication: inout Publication) -> Bool {
        guard let shard = self.currentShard else {
            self.deliverFromOutside(&publication)
            return true
        }
        let matched = publication.matched
        // One message for all: only its ID differs.
        var pattern = matched.pattern(of: publication.next)
        var message = publication.message(to: pattern)
        while publication.next < matched.subscribers.count {
            if matched.pattern(of: publication.next) != pattern {
                pattern = matched.pattern(of: publication.next)
                message = publication.message(to: pattern)
            }
            let subscriber = matched.subscribers[publication.next]
            publication.next += 1
            self.deliver(subscriber, &message, &publication, on: shard)
            // The publisher was admitted for one delivery, so each further subscriber is admitted here.
            if publication.next < matched.subscribers.count, !shard.admitsDelivery() {
                return false
            }
        }
        return true
    }

    /// Gives the message to one subscriber.
    private func deliver(
        _ subscriber: Subscriber,
        _ message: inout Message,
        _ publication: inout Publication,
        on shard: BorrowedShard?
    ) {
        guard !subscriber.isGone else { return }
        switch subscriber.receiver {
        case .buffer(let buffer): self.offer(&message, to: buffer, &publication, on: shard)
        case .handler(let handler):
            let ticket = self.open(on: shard)
            message.id = ticket.id
            let isImmediate = handler.isImmediate
            if let chain = publication.chain {
                let route: ResolvedRoute = (.handler(handler), message.parameters)
                publication.exchanges.append(
                    self.intercept(publication.request, ticket, route, by: chain, to: .publisher)
                )
                return
            }
            let place = handler.mailbox.place(ticket.id, isImmediate: isImmediate)
            if isImmediate, case .here = place {
                let outcome =
                    handler.rejection(of: message).map { .failed($0.at(handler)) }
                    ?? handler.invoke(message) { try $0.callBoxed($1) }
                self.settle(ticket, as: outcome, of: message, for: .publisher, at: handler, on: shard)
                if outcome.isReply { publication.taken += 1 }
            } else {
                let (exchange, message) = self.exchange(
                    publication.request,
                    ticket,
                    message.parameters,
                    at: handler,
                    to: .publisher
                )
                exchange.start(message, at: handler, place: place, on: self.watcher(of: message.expiry))
                publication.exchanges.append(exchange)
            }
        }
    }

    /// Gives the message to the subscribers, from a thread that is none of the bus's loops.
    private func deliverFromOutside(_ publication: inout Publication) {
        while publication.next < publication.matched.subscribers.count {
            var message = publication.message(to: publication.matched.pattern(of: publication.next))
            let subscriber = publication.matched.subscribers[publication.next]
            publication.next += 1
            self.deliver(subscriber, &message, &publication, on: nil)
        }
    }
}

/// One message on its way to its subscribers, and how many of them have had it.
struct Publication: Sendable {
    let request: Request
    let matched: MatchedSubscribers

    /// The middlewares around each subscriber's delivery; around a buffer's they stand where it is read.
    let chain: MiddlewareChain?

    /// The subscriber whose turn is next.
    var next = 0

    /// How many of them took it.
    var taken = 0

    /// The exchanges with subscribers that need more than a call.
    var exchanges: [Exchange] = []

    /// The messages for which the publisher waits, since their buffers are full.
    var queued: [QueuedMessage] = []

    /// Whether every subscriber has had its turn.
    var isDelivered: Bool { self.next == self.matched.subscribers.count }

    /// Whether its publisher waits for subscribers that have it.
    var isAwaited: Bool { !self.exchanges.isEmpty || !self.queued.isEmpty }

    init(_ request: Request, for matched: MatchedSubscribers, around chain: MiddlewareChain?) {
        self.request = request
        self.chain = chain
        self.matched = matched
    }

    /// The message for the subscribers of a pattern; each gets it with an ID of its own.
    func message(to pattern: Int) -> Message {
        self.request.message(id: CorrelationID(rawValue: 0), parameters: self.matched.parameters[pattern])
    }
}
