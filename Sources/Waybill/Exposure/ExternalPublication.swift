internal import WaybillEventLoop
package import WaybillRouting

/// The state of a peer's publication that was delivered as far as possible without suspending.
package enum ExternalPublication: Sendable {
    /// All subscribers have finished.
    case ended
    case pending(Rest)

    /// The remaining work of a publication.
    package struct Rest: Sendable {
        fileprivate enum Part: Sendable {
            case request(ExternalRequest)
            case publication(Publication)
        }

        fileprivate let part: Part
    }
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
        if let error = core.rejection(of: request, .publishing) {
            await core.yieldThread()
            if error.code == .noRoute { return 0 }
            throw error
        }
        return try await core.publish(request.content, isExternal: true)
    }

    /// Publishes a peer's message as far as possible without suspending.
    ///
    /// A subscriber on the caller's loop that cannot suspend receives the message in this call, without a new
    /// task.
    ///
    /// - Parameters:
    ///   - request: The peer's message.
    ///   - isCounted: Whether the caller has already counted the publication against the loop's budget of
    ///     deliveries.
    /// - Returns: `ended` when all subscribers have finished, or the remaining work for ``publish(_:)``.
    /// - Throws: The errors of ``publish(_:parameters:headers:deadline:timeout:)``.
    package func begin(
        publishing request: ExternalRequest,
        isCounted: Bool = false
    ) throws(RoutingError) -> ExternalPublication {
        let core = self.core
        guard let loop = EventLoop.current, isCounted || loop.consumeDeliveryBudget() else {
            return .pending(ExternalPublication.Rest(part: .request(request)))
        }
        if let error = core.rejection(of: request, .publishing) {
            if error.code == .noRoute { return .ended }
            throw error
        }
        var content = request.content
        content = content.inheriting(on: core.currentShard)
        guard var publication = try core.beginPublishing(content, isExternal: true) else { return .ended }
        guard core.deliver(&publication), !publication.isAwaited else {
            return .pending(ExternalPublication.Rest(part: .publication(publication)))
        }
        return .ended
    }

    /// Completes a publication, and waits until all subscribers have finished.
    package nonisolated(nonsending) func publish(
        _ rest: ExternalPublication.Rest
    ) async throws(RoutingError) {
        switch rest.part {
        case .request(let request): _ = try await self.publish(request)
        case .publication(let publication): _ = await self.core.resume(publication)
        }
    }

    /// Subscribes to a pattern for a peer.
    ///
    /// The peer receives only messages whose URLs are exposed for subscribing.
    ///
    /// The exposures at the time of this call decide whether the peer may subscribe. The exposures at the
    /// time of a publication decide whether the peer receives the publication.
    ///
    /// - Throws: `noRoute` when no exposed URL matches the pattern, `invalidPattern`, or `shutDown`.
    package func externalMessages(
        of pattern: String,
        to audience: Audience = .peers,
        limit: Int? = nil,
        whenFull: MailboxConfiguration.Overflow = .dropOldest
    ) throws(RoutingError) -> SubscriptionSequence {
        let limit = limit ?? self.core.configuration.mailboxLimit
        let exposures = self.core.exposures(to: audience)
        let read = try self.core.currentConfiguration.peerPattern(pattern)
        guard exposures.maySubscribe(to: read) else { throw .notSubscribable(pattern) }
        let buffer = SubscriptionBuffer(of: pattern, limit: limit, whenFull: whenFull, core: self.core) {
            url in
            (try? exposures.operations(at: url))?.contains(.subscribing) ?? false
        }
        return SubscriptionSequence(buffer, try self.core.subscribe(Subscriber(buffer), to: read))
    }
}
