internal import WaybillEventLoop
package import WaybillRouting

/// How far a peer's publication got without suspending.
package enum ExternalPublication: Sendable {
    /// All subscribers are done.
    case ended
    case pending(Rest)

    /// What is left to do for a publication.
    package struct Rest: Sendable {
        fileprivate enum Part: Sendable {
            case request(ExternalRequest)
            case publication(Publication)
        }

        fileprivate let part: Part
    }
}

// What a peer says to subscribers, and hears as one.
extension MessageBus {
    /// Publishes what a peer says to every subscriber.
    ///
    /// - Returns: how many subscribers took it; 0 for what is not exposed.
    /// - Throws: what ``publish(_:parameters:headers:deadline:timeout:)`` throws.
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

    /// Publishes what a peer says as far as that goes without suspending.
    ///
    /// Subscribers on the caller's loop that cannot suspend have had it then, and it has cost no task.
    ///
    /// - Parameters:
    ///   - request: what the peer says.
    ///   - isAdmitted: whether the caller has asked the loop's budget for it.
    /// - Returns: whether all are done, or else what ``publish(_:)`` has to wait for.
    /// - Throws: what ``publish(_:parameters:headers:deadline:timeout:)`` throws.
    package func begin(
        publishing request: ExternalRequest,
        isAdmitted: Bool = false
    ) throws(RoutingError) -> ExternalPublication {
        let core = self.core
        guard let loop = EventLoop.current, isAdmitted || loop.consumeDeliveryBudget() else {
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

    /// Publishes what is left to publish to every subscriber, and waits until the last is done.
    package nonisolated(nonsending) func publish(
        _ rest: ExternalPublication.Rest
    ) async throws(RoutingError) {
        switch rest.part {
        case .request(let request): _ = try await self.publish(request)
        case .publication(let publication): _ = await self.core.resume(publication)
        }
    }

    /// Subscribes for a peer, which gets the messages whose URL is exposed for subscribing.
    ///
    /// The exposures of the moment decide whether the peer may subscribe, and those of a publication whether
    /// the peer gets it.
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
