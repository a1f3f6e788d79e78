internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

extension BusCore {
    /// Delivers a request to all subscribers, and returns the number of accepting subscribers.
    ///
    /// The subscribers begin one after the other. A subscriber that suspends does not delay the next ones.
    /// Values that a peer passes (`isExternal`) cannot replace values of the path.
    nonisolated(nonsending) func publish(
        _ request: consuming Request,
        isExternal: Bool = false,
        isAtOnce: Bool = false
    ) async throws(RoutingError) -> Int {
        let request = request.inheriting(on: self.currentShard)
        // This call also counts the first delivery, which the job of an `isAtOnce` caller counts already.
        if !isAtOnce { await EventLoop.yieldIfDue() }
        var acceptedCount = 0
        do throws(RoutingError) {
            if var publication = try self.beginPublishing(request, isExternal: isExternal) {
                repeat { self.deliverToSubscribers(&publication) } while isAtOnce && !publication.isDelivered
                if !publication.isDelivered || publication.isAwaited { return await self.finish(publication) }
                acceptedCount = publication.acceptedCount
            }
        } catch {
            await self.yieldUnlessOnLoop()
            throw error
        }
        // Yield even if no subscriber suspends. Otherwise code that publishes in a loop would never release
        // its thread of the global pool.
        await self.yieldUnlessOnLoop()
        return acceptedCount
    }

    /// Publishes a request to other nodes, and returns the publication to the subscribers of this process, or
    /// nil when this process has no subscribers.
    func beginPublishing(
        _ request: consuming Request,
        isExternal: Bool
    ) throws(RoutingError) -> Publication? {
        if let error = self.admissionError(of: request) { throw error }
        let (matched, address) = try self.findSubscribers(of: request.url)
        let isElsewhere =
            self.registry.hasCluster.load(ordering: .relaxed) && self.publishToNodes(request, address)
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
        return Publication(request: request, isExternal: isExternal, matched: matched, chain: chain)
    }

    /// Delivers to the remaining subscribers, waits until all subscribers have finished, and returns the
    /// number of subscribers that accepted the message.
    @inline(never)
    nonisolated(nonsending) func finish(_ publication: consuming Publication) async -> Int {
        while !publication.isDelivered {
            await EventLoop.yieldIfDue()
            self.deliverToSubscribers(&publication)
        }
        for exchange in publication.exchanges where await exchange.listen(noListener).isReply {
            publication.acceptedCount += 1
        }
        for queued in publication.queued where await self.wait(for: queued) { publication.acceptedCount += 1 }
        return publication.acceptedCount
    }

    private func findSubscribers(of url: String) throws(RoutingError) -> (MatchedSubscribers, Address?) {
        if let shard = self.currentShard, let found = try shard.retained.subscribers(matching: url) {
            return found
        }
        let matched = try self.topics.subscribers(matching: url)
        return (matched, matched.isEmpty ? try self.registry.address(of: url) : nil)
    }

    /// Delivers the message to the subscribers without suspending, until the budget of the loop is used up.
    func deliverToSubscribers(_ publication: inout Publication) {
        let shard = self.currentShard
        let matched = publication.matched
        // All subscribers of a pattern receive the same message. Only the ID is different.
        var patternIndex = matched.patternIndex(ofSubscriber: publication.next)
        var message = self.message(of: publication, to: patternIndex)
        while publication.next < matched.subscribers.count {
            if matched.patternIndex(ofSubscriber: publication.next) != patternIndex {
                patternIndex = matched.patternIndex(ofSubscriber: publication.next)
                message = self.message(of: publication, to: patternIndex)
            }
            let subscriber = matched.subscribers[publication.next]
            publication.next += 1
            self.deliver(&message, to: subscriber, in: &publication, on: shard)
            // The budget of the loop has counted one delivery, so count one for each further subscriber here.
            if let shard, !publication.isDelivered, !shard.consumeDeliveryBudgetIfOnLoop() { return }
        }
    }

    /// Returns the message for a pattern's subscribers, each of which receives a copy with a new ID.
    private func message(of publication: Publication, to patternIndex: Int) -> Message {
        let parameters = publication.matched.parameters[patternIndex]
        let request =
            publication.isExternal
            ? self.withoutPathOverrides(publication.request, of: parameters) : publication.request
        return request.message(id: CorrelationID(rawValue: 0), parameters: parameters)
    }

    private func deliver(
        _ message: inout Message,
        to subscriber: Subscriber,
        in publication: inout Publication,
        on shard: BorrowedShard?
    ) {
        guard !subscriber.isGone else { return }
        switch subscriber.receiver {
        case .buffer(let buffer): self.offer(&message, to: buffer, &publication, on: shard)
        case .handler(let handler):
            let ticket = self.openTicket(on: shard)
            message.id = ticket.id
            if let chain = publication.chain {
                let target = Target.handler(handler)
                publication.exchanges.append(
                    self.intercept(message, ticket: ticket, target: target, by: chain, to: .publisher)
                )
                return
            }
            let place = handler.mailbox.place(ticket.id, isSynchronous: handler.isSynchronous)
            if handler.isSynchronous, case .now = place {
                // The deadline may have passed while earlier subscribers handled the message.
                let outcome = handler.handle(message)
                self.settle(ticket, as: outcome, of: message, for: .publisher, at: handler, on: shard)
                if outcome.isReply { publication.acceptedCount += 1 }
            } else {
                let exchange = Exchange(for: message, ticket: ticket, at: handler, to: .publisher, core: self)
                exchange.startOrEnqueueTask(of: message, at: handler, place: place)
                publication.exchanges.append(exchange)
            }
        }
    }
}

/// A published message, and the progress of its delivery to the subscribers.
struct Publication: Sendable {
    let request: Request
    /// Whether a peer publishes the message, whose values cannot replace values of the path.
    let isExternal: Bool
    let matched: MatchedSubscribers

    /// The middlewares that intercept the message for each subscriber.
    ///
    /// The middlewares of a buffered message are called when the reader takes the message from the buffer.
    let chain: MiddlewareChain?

    /// The index of the next subscriber.
    var next = 0

    var acceptedCount = 0

    /// The exchanges with subscribers that could not be called in place.
    var exchanges: [Exchange] = []

    /// The messages that wait for room in full buffers, and for which the publisher waits.
    var queued: [QueuedMessage] = []

    var isDelivered: Bool { self.next == self.matched.subscribers.count }

    var isAwaited: Bool { !self.exchanges.isEmpty || !self.queued.isEmpty }
}
