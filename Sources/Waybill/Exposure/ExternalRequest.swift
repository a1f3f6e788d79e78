internal import Synchronization
package import WaybillEventLoop
package import WaybillRouting

/// What a peer asks of the bus.
///
/// Parameters that are text, whole numbers, `Double`, `Bool` or nil are passed as they are, and what has no
/// type before it is read as an `EncodedValue`.
package struct ExternalRequest: Sendable {
    /// Takes the values of replies on their way to a return URL of the scheme `caller`.
    package typealias ReturnHandler =
        @Sendable (_ url: String, _ value: any Sendable, _ headers: [String: String]) -> Void

    package var url: String { self.content.url }
    package var origin: MessageOrigin { self.caller.origin }
    /// What the URL is exposed for, if that has just been looked up; empty if it has not.
    package var operations: ExposedOperations = []
    private let caller: ExternalCaller
    var audience: Audience { self.caller.audience }
    let content: Request

    /// Who asks.
    package struct Peer: Sendable {
        fileprivate let caller: ExternalCaller
        /// What most of its messages have beside their URL: itself.
        fileprivate let extras: MessageExtras

        /// Describes a peer.
        ///
        /// - Parameters:
        ///   - origin: the peer.
        ///   - audience: which exposures it is held to.
        ///   - returnHandler: takes the values for return URLs of the scheme `caller`, which are the peer's
        ///     own.
        package init(origin: MessageOrigin, audience: Audience = .peers, returnHandler: ReturnHandler? = nil)
        {
            self.caller = ExternalCaller(origin, audience, returnHandler)
            self.extras = MessageExtras(external: self.caller)
        }
    }

    /// Describes what a peer asks for.
    ///
    /// - Parameters:
    ///   - url: where to; without a scheme the default scheme is meant.
    ///   - passed: values that join those of the URL; they win over those of the query, and not over those of
    ///     the path.
    ///   - headers: text for the infrastructure, beside the parameters.
    ///   - deadline: when the peer stops waiting.
    ///   - hops: how many routes led to the request in other processes; one that is negative counts as none.
    ///   - payload: what the message carries, as one that is sent to a return URL does.
    ///   - correlationID: the message that this one answers, if it does.
    ///   - returnID: the message that the value for the return URL answers, where that is the peer's own.
    ///   - peer: who asks.
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
        self.caller = returnID.map { peer.caller.with(returnID: $0) } ?? peer.caller
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
            // A message has a few bits fewer for the number; the limit of a bus is far below.
            hops: min(max(0, hops), Int(Int32.max)),
            expiry: Deadline(deadline)
        )
    }

    /// Describes the same where the values are in a dictionary, and of a peer that asks once.
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
    /// When the peer stops waiting.
    package var deadline: ContinuousClock.Instant? { self.content.expiry.instant }

    /// Whether the peer has stopped waiting.
    package var isOverdue: Bool { self.content.expiry.instant.map { $0 <= .now } ?? false }
}

/// The peer that a message came from, and what takes the values that go back to it.
final class ExternalCaller: Sendable {
    let origin: MessageOrigin
    let audience: Audience
    /// What the value for a return URL answers, if it is not the message that the handler gets.
    let returnID: CorrelationID?
    private let returnHandler: ExternalRequest.ReturnHandler?

    /// The scheme of return URLs that lead to the peer.
    private static let scheme = "caller"

    init(
        _ origin: MessageOrigin,
        _ audience: Audience,
        _ returnHandler: ExternalRequest.ReturnHandler?,
        returnID: CorrelationID? = nil
    ) {
        self.origin = origin
        self.audience = audience
        self.returnID = returnID
        self.returnHandler = returnHandler
    }

    /// The same for another message.
    func with(returnID: CorrelationID) -> ExternalCaller {
        ExternalCaller(self.origin, self.audience, self.returnHandler, returnID: returnID)
    }

    /// Gives a value to the peer, if its return URL says so.
    ///
    /// - Returns: whether the URL is the peer's own.
    func take(_ value: any Sendable, at url: String, _ headers: [String: String]) -> Bool {
        guard let returnHandler, let address = try? Address(url), address.hasScheme,
            address.scheme == Self.scheme
        else { return false }
        returnHandler(url, value, headers)
        return true
    }
}

/// How far a peer's request got without suspending.
package enum ExternalAttempt: Sendable {
    /// Its handler has returned a value for the message of this ID.
    case replied(any Sendable, CorrelationID)
    case pending(Rest)

    /// What is left to do for a request.
    package struct Rest: Sendable {
        fileprivate let url: String
        fileprivate let delivery: Delivery
        fileprivate let audience: Audience
    }
}

extension MessageBus {
    /// Routes what a peer asks for, and waits for the reply.
    ///
    /// - Parameters:
    ///   - request: what the peer asks for.
    ///   - onReply: sees a progress reply, and answers it; nil if the peer does not listen.
    /// - Returns: the last reply.
    /// - Throws: what ``route(_:as:)`` throws; `noRoute` for what is not exposed.
    package nonisolated(nonsending) func route(
        _ request: ExternalRequest,
        onReply: ((any Sendable) async throws -> any Sendable)? = nil
    ) async throws(RoutingError) -> Reply {
        let core = self.core
        if let error = core.rejection(of: request, .calls) {
            await core.yieldThread()
            throw error
        }
        let content = core.keepingPath(request.content)
        let rest = ExternalAttempt.Rest(
            url: content.url,
            delivery: .unadmitted(PendingRequest(content, by: core.access(of: request, .calls), on: core)),
            audience: request.audience
        )
        return try await self.reply(of: rest, onReply: onReply)
    }

    /// Routes what a peer asks for as far as that goes without suspending.
    ///
    /// A handler on the caller's loop that cannot suspend has answered then, and has cost no task.
    ///
    /// - Parameter request: what the peer asks for.
    /// - Returns: the reply, or what ``reply(of:onReply:)`` waits for.
    /// - Throws: `noRoute` for what is not exposed, and the other reasons not to take a request.
    package func begin(_ request: ExternalRequest) throws(RoutingError) -> ExternalAttempt {
        let core = self.core
        if let error = core.rejection(of: request, .calls) { throw error }
        let content = core.keepingPath(request.content)
        let delivery = core.deliverHere(content, by: core.access(of: request, .calls))
        if case .ended(let result) = delivery, case .success(let value) = result.outcome.result {
            return .replied(value, result.id)
        }
        return .pending(
            ExternalAttempt.Rest(url: content.url, delivery: delivery, audience: request.audience)
        )
    }

    /// The loop where a peer's request is best begun: that of its handler, or the first one.
    package func eventLoop(for request: ExternalRequest) -> EventLoop {
        let core = self.core
        guard !core.otherShards.isEmpty,
            let handler = core.resolve(request.content, on: nil).target.handler
        else { return core.primaryShard.eventLoop }
        return handler.mailbox.eventLoop
    }

    /// Waits for the reply of a request that has begun.
    ///
    /// - Parameters:
    ///   - rest: what is left to do for it.
    ///   - onReply: sees a progress reply, and answers it; nil if the peer does not listen.
    /// - Returns: the last reply.
    /// - Throws: what ``route(_:as:)`` throws.
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

    /// Sends what no peer awaits.
    ///
    /// - Throws: the reason that the message is not in the mailbox of a handler; it is no dead letter then.
    package func send(_ request: ExternalRequest) throws(RoutingError) {
        let core = self.core
        if let error = core.rejection(of: request, .sends) { throw error }
        let content = core.keepingPath(request.content)
        if let error = core.send(content, isOwn: false, for: .peer(awaits: true)) {
            throw core.asSeenOutside(error, at: request.url, by: request.audience)
        }
    }
}

extension BusCore {
    fileprivate func access(of request: ExternalRequest, _ operation: ExposedOperations) -> PeerAccess {
        PeerAccess(audience: request.audience, operation: operation)
    }

    /// Returns the reason to reject a peer's request, which counts as a message then, or nil to deliver it.
    func rejection(of request: ExternalRequest, _ operation: ExposedOperations) -> RoutingError? {
        var access = self.access(of: request, operation)
        access.known = request.operations
        guard let error = self.rejection(of: request.content, by: access) else { return nil }
        // No code of the program sees the message but observers. A publication is counted for each subscriber.
        if operation != .publishing { self.fail(request.content, error, for: .peer(awaits: true)) }
        return error
    }

    /// Sends a reply's value to a return URL that a peer gave.
    func sendReturn(_ request: Request, of audience: Audience) {
        if self.mayReturn(request, of: audience) {
            self.send(self.keepingPath(request), isOwn: false)
        } else {
            self.fail(request, self.notExposed(request.url, to: audience), for: .peer(awaits: false))
        }
    }

    /// Whether a return URL that a peer gave may be used; one that a node gave may lead to another node.
    private func mayReturn(_ request: Request, of audience: Audience) -> Bool {
        guard let handler = self.resolve(request, on: nil).target.handler else { return false }
        if audience == .nodes, handler === self.registry.connections.cluster?.connection.handler {
            return true
        }
        return self.isExposedForReturns(request.url, to: audience)
    }
}
