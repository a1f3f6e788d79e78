internal import WaybillEventLoop
package import WaybillRouting

/// A peer's publication that some subscribers have not received, or have not finished.
package struct UnfinishedPublication: Sendable {
    fileprivate var publication: Publication
    fileprivate let core: BusCore

    /// Whether all subscribers have received the message.
    package var isDelivered: Bool { self.publication.isDelivered }

    /// Delivers the message to at least one more subscriber, until the loop must poll.
    ///
    /// Before ``isDelivered`` is true, the caller must not begin another message, which would overtake this.
    package mutating func deliver() { self.core.deliverToSubscribers(&self.publication) }

    /// Waits until all subscribers have finished.
    package nonisolated(nonsending) func finish() async { _ = await self.core.finish(self.publication) }
}

// Publications and subscriptions of peers.
extension MessageBus {
    /// Publishes a peer's message to all subscribers.
    ///
    /// - Returns: The number of subscribers that accepted the message; 0 if the URL is not exposed.
    /// - Throws: The errors of ``publish(_:parameters:headers:deadline:timeout:)``.
    package nonisolated(nonsending) func publish(
        _ request: ExternalRequest
    ) async throws(RoutingError) -> Int {
        let core = self.core
        if let error = core.countedRejection(of: request, .publishing) {
            await core.yieldUnlessOnLoop()
            if error.code == .noRoute { return 0 }
            throw error
        }
        return try await core.publish(request.content, isExternal: true)
    }

    /// Publishes a peer's message as far as possible without suspending.
    ///
    /// A subscriber on the caller's loop that cannot suspend receives the message in this call, without a new
    /// task. A later change of the exposures does not affect the message.
    ///
    /// - Parameters:
    ///   - request: The peer's message.
    ///   - isCounted: Whether the loop's budget of deliveries already contains the publication.
    /// - Returns: The publication to deliver and finish; nil when all subscribers have finished.
    /// - Throws: The errors of ``publish(_:parameters:headers:deadline:timeout:)``.
    package func begin(
        publishing request: ExternalRequest,
        isCounted: Bool = false
    ) throws(RoutingError) -> UnfinishedPublication? {
        let core = self.core
        if let error = core.countedRejection(of: request, .publishing) {
            if error.code == .noRoute { return nil }
            throw error
        }
        let content = request.content.inheriting(on: core.currentShard)
        guard var publication = try core.beginPublishing(content, isExternal: true) else { return nil }
        if isCounted || EventLoop.current?.consumeDeliveryBudget() == true {
            core.deliverToSubscribers(&publication)
            if publication.isDelivered, !publication.isAwaited { return nil }
        }
        return UnfinishedPublication(publication: publication, core: core)
    }

    /// Subscribes to a pattern for a peer, whose oldest messages are dropped if the peer reads too slowly.
    ///
    /// The exposures at the time of this call decide whether the peer may subscribe. The exposures at the
    /// time of a publication decide whether the peer receives the publication.
    ///
    /// - Throws: `noRoute` when no exposed URL matches the pattern, `invalidPattern`, or `shutDown`.
    package func externalMessages(
        of pattern: String,
        to audience: Audience = .peers,
        limit: Int? = nil,
        memory: SubscriptionMemory? = nil
    ) throws(RoutingError) -> SubscriptionSequence {
        let limit = limit ?? self.core.configuration.mailboxLimit
        let exposures = self.core.exposures(to: audience)
        let read = try self.core.currentConfiguration.peerPattern(pattern)
        let exposed = exposures.patterns.filter { exposed, operations in
            operations.contains(.subscribing) && read.mayOverlap(with: exposed)
        }
        guard !exposed.isEmpty else { throw .notSubscribable(pattern) }
        let buffer = SubscriptionBuffer(
            of: exposed.count == 1 ? exposed[0].pattern.text : "**",
            limit: limit,
            whenFull: .dropOldest,
            core: self.core,
            memory: memory
        ) { url in
            (try? exposures.operations(at: url))?.contains(.subscribing) ?? false
        }
        return SubscriptionSequence(buffer, try self.core.subscribe(Subscriber(buffer), to: read))
    }
}
