package import WaybillEventLoop
package import WaybillRouting

/// A peer's request to the bus.
///
/// Only the reader knows the type of a value that is not text, a whole number, a `Bool` or nil, so such a
/// value is passed as an `EncodedValue`.
package struct ExternalRequest: Sendable {
    /// A closure that receives a reply's value when the return URL has the scheme `caller`.
    package typealias ReturnHandler =
        @Sendable (_ url: String, _ value: any Sendable, _ headers: [String: String]) -> Void

    package var url: String { self.content.url }
    package var origin: MessageOrigin { self.caller.origin }
    private var caller: ExternalCaller
    var audience: Audience { self.caller.audience }
    private(set) var content: Request

    /// The peer that sends requests.
    package struct Peer: Sendable {
        fileprivate let caller: ExternalCaller
        /// The extras of the peer's messages that have no other properties.
        fileprivate let extras: MessageExtras

        /// Creates a peer, whose messages have the given origin.
        ///
        /// `returnHandler` receives the values for return URLs with the scheme `caller`, which lead back to
        /// the peer.
        package init(origin: MessageOrigin, audience: Audience = .peers, returnHandler: ReturnHandler? = nil)
        {
            self.caller = ExternalCaller(origin, for: audience, returnHandler: returnHandler)
            self.extras = MessageExtras(external: self.caller)
        }
    }

    /// Creates a peer's request.
    ///
    /// - Parameters:
    ///   - url: The destination. A URL without a scheme gets the default scheme.
    ///   - passed: Values that take precedence over values of the query, but not over values of the path.
    ///   - headers: Text for the infrastructure, separate from the parameters.
    ///   - deadline: The time at which the peer stops waiting.
    ///   - hops: The number of routed messages in other processes that led to the request, at least 0.
    ///   - payload: The value that the message carries, as in a message to a return URL.
    ///   - correlationID: The ID of the message that this message answers.
    ///   - returnID: The ID of the value that is returned to the peer; nil for the ID of this message.
    ///   - peer: The sender.
    package init(
        url: String,
        passed: PassedValues?,
        headers: [String: String] = [:],
        deadline: ContinuousClock.Instant? = nil,
        hops: Int = 0,
        payload: (any Sendable)? = nil,
        correlationID: CorrelationID? = nil,
        returnID: CorrelationID? = nil,
        from peer: Peer
    ) {
        self.caller = returnID.map { peer.caller.replacing(returnID: $0) } ?? peer.caller
        let isPlain = headers.isEmpty && payload == nil && correlationID == nil && returnID == nil
        self.content = Request(
            url: url,
            passed: passed,
            extras: isPlain
                ? peer.extras
                : MessageExtras(
                    payload: payload,
                    headers: headers,
                    correlationID: correlationID,
                    external: self.caller
                ),
            // A message has fewer bits for the hop count than an `Int`. The hop limit of a bus is far lower.
            hops: min(max(0, hops), Int(Int32.max)),
            expiry: Deadline(deadline)
        )
    }

    /// Creates a request from a dictionary of values, for a peer that sends only one request.
    package init(
        url: String,
        parameters: [String: any Sendable] = [:],
        headers: [String: String] = [:],
        deadline: ContinuousClock.Instant? = nil,
        hops: Int = 0,
        payload: (any Sendable)? = nil,
        origin: MessageOrigin,
        audience: Audience = .peers,
        returnHandler: ReturnHandler? = nil
    ) {
        self.init(
            url: url,
            passed: .make(parameters),
            headers: headers,
            deadline: deadline,
            hops: hops,
            payload: payload,
            from: Peer(origin: origin, audience: audience, returnHandler: returnHandler)
        )
    }
}

extension ExternalRequest {
    /// The time at which the peer stops waiting.
    package var deadline: ContinuousClock.Instant? { self.content.expiry.instant }

    /// Returns the same request with an object that counts the work of its message.
    package func counted(by work: ExternalWork) -> ExternalRequest {
        var request = self
        request.caller = self.caller.replacing(work: work)
        request.content.extras = self.content.extras?.replacing(external: request.caller)
        return request
    }

    /// Returns whether the deadline that the peer has set has passed, by the clock of a bus.
    package func isOverdue(on bus: MessageBus) -> Bool {
        self.content.expiry.hasPassed(by: bus.core.time)
    }
}

/// The peer that sent a message, and the closure that receives the values for the peer.
final class ExternalCaller: Sendable {
    let origin: MessageOrigin
    let audience: Audience
    /// The correlation ID of the value that is returned to the peer; nil for the ID of the handler's message.
    let returnID: CorrelationID?
    /// The work that the message causes; nil if nobody counts it.
    let work: ExternalWork?
    private let returnHandler: ExternalRequest.ReturnHandler?

    init(
        _ origin: MessageOrigin,
        for audience: Audience,
        work: ExternalWork? = nil,
        returnHandler: ExternalRequest.ReturnHandler?,
        returnID: CorrelationID? = nil
    ) {
        self.origin = origin
        self.audience = audience
        self.returnID = returnID
        self.work = work
        self.returnHandler = returnHandler
    }

    func replacing(work: ExternalWork? = nil, returnID: CorrelationID? = nil) -> ExternalCaller {
        ExternalCaller(
            self.origin,
            for: self.audience,
            work: work ?? self.work,
            returnHandler: self.returnHandler,
            returnID: returnID ?? self.returnID
        )
    }

    /// Passes a value to the peer, or returns false when the return URL does not lead to the peer.
    func take(_ value: any Sendable, at url: String, _ headers: [String: String]) -> Bool {
        guard let returnHandler, let address = try? Address(url), address.hasScheme,
            address.scheme == "caller"
        else { return false }
        returnHandler(url, value, headers)
        return true
    }
}

/// The state of a peer's request that was delivered as far as possible without suspending.
package enum ExternalAttempt: Sendable {
    /// The handler has returned a value for the message with this ID.
    case replied(any Sendable, CorrelationID)
    case pending(Rest)

    /// The remaining work of a request.
    package struct Rest: Sendable {
        fileprivate let url: String
        fileprivate let delivery: Delivery
        fileprivate let audience: Audience
    }
}

extension MessageBus {
    /// Routes a peer's request, and waits for the reply.
    ///
    /// - Throws: The errors of ``reply(of:onReply:)``, and `noRoute` for a URL that is not exposed.
    package nonisolated(nonsending) func route(
        _ request: ExternalRequest,
        onReply: ((any Sendable) async throws -> any Sendable)? = nil
    ) async throws(RoutingError) -> Reply {
        let core = self.core
        if let error = core.countedRejection(of: request, .calls) {
            await core.yieldUnlessOnLoop()
            throw error
        }
        let rest = ExternalAttempt.Rest(
            url: request.url,
            delivery: .postponed(
                request.content.inheriting(on: core.currentShard),
                by: core.access(of: request, .calls)
            ),
            audience: request.audience
        )
        return try await self.reply(of: rest, onReply: onReply)
    }

    /// Routes a peer's request as far as possible without suspending.
    ///
    /// A handler on the caller's loop that cannot suspend replies within this call, without a new task. A
    /// delivery that has failed already is also pending, and ``reply(of:onReply:)`` throws its error.
    ///
    /// - Throws: `noRoute` for a URL that is not exposed, and the other reasons to reject a request.
    package func begin(_ request: ExternalRequest) throws(RoutingError) -> ExternalAttempt {
        let core = self.core
        // Check the peer's access before the path is resolved. The delivery then checks the phase, the hop
        // count and the deadline again, as for every request.
        if let error = core.countedRejection(of: request, .calls) { throw error }
        let content = core.withoutPathOverrides(request.content)
        let delivery = core.deliverHere(content, by: core.access(of: request, .calls))
        if case .ended(let result) = delivery, case .success(let value) = result.outcome.result {
            return .replied(value, result.id)
        }
        return .pending(
            ExternalAttempt.Rest(url: content.url, delivery: delivery, audience: request.audience)
        )
    }

    /// Returns the loop on which a request should begin: the loop of its handler, or the bus's first loop.
    package func eventLoop(for request: ExternalRequest) -> EventLoop {
        if self.core.otherShards.isEmpty { return self.eventLoop }
        return self.core.resolve(request.content, on: nil).target.handler?.mailbox.eventLoop ?? self.eventLoop
    }

    /// Waits for the last reply of a request that has begun.
    ///
    /// `onReply` receives each progress reply and returns the answer; nil when the peer does not listen.
    ///
    /// - Throws: The errors of ``route(_:as:)``.
    package nonisolated(nonsending) func reply(
        of rest: ExternalAttempt.Rest,
        onReply: ((any Sendable) async throws -> any Sendable)?
    ) async throws(RoutingError) -> Reply {
        let core = self.core
        let url = rest.url
        let delivered = await core.result(of: rest.delivery) { value in
            guard let onReply else { return try await noListener(value) }
            return value is ListenerProbe ? () : try await onReply(value)
        }
        do throws(RoutingError) {
            return try delivered.reply(from: url)
        } catch {
            throw core.asSeenOutside(error, at: url, by: rest.audience)
        }
    }

    /// Sends a peer's message that no caller awaits.
    ///
    /// - Throws: The reason why the message did not reach a mailbox; the message is then not a dead letter.
    package func send(_ request: ExternalRequest) throws(RoutingError) {
        let core = self.core
        if let error = core.countedRejection(of: request, .sends) { throw error }
        let content = core.withoutPathOverrides(request.content)
        if let error = core.send(content, isOwn: false, for: .peer(awaits: true)) {
            throw core.asSeenOutside(error, at: request.url, by: request.audience)
        }
    }
}

extension BusCore {
    fileprivate func access(of request: ExternalRequest, _ operation: ExposedOperations) -> PeerAccess {
        PeerAccess(audience: request.audience, operation: operation)
    }

    /// Returns the reason to reject a peer's request, which is counted as a failed message, or nil to deliver
    /// it.
    func countedRejection(of request: ExternalRequest, _ operation: ExposedOperations) -> RoutingError? {
        let access = self.access(of: request, operation)
        guard let error = self.admissionError(of: request.content, by: access) else { return nil }
        // Only observers receive the rejected message. A rejected publication is not counted, because
        // publications are counted once for each subscriber.
        if operation != .publishing { self.fail(request.content, error, for: .peer(awaits: true)) }
        return error
    }

    /// Sends a reply's value to a return URL that a peer gave.
    func sendReturn(_ request: Request, of audience: Audience) {
        if self.mayReturn(request, of: audience) {
            self.send(self.withoutPathOverrides(request), isOwn: false)
        } else {
            self.fail(request, self.notExposed(request.url, to: audience), for: .peer(awaits: false))
        }
    }

    /// Returns whether the bus may use a return URL of a peer; a node may give the URL of a third node.
    private func mayReturn(_ request: Request, of audience: Audience) -> Bool {
        guard let handler = self.resolve(request, on: nil).target.handler else { return false }
        let isOfNode = audience == .nodes && handler === self.registry.connections.cluster?.connection.handler
        return isOfNode || self.isExposedForReturns(request.url, to: audience)
    }
}
