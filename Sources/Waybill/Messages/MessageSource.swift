internal import WaybillEventLoop
internal import WaybillRouting

/// A store's record of one attempt to deliver a message, which the store repeats after a failure.
package protocol MessageSource: AnyObject, Sendable {
    /// Accepts the value for the return URL, which the bus then does not send.
    ///
    /// Any thread may call this method, at most once for each message.
    func sendReturn(_ value: any Sendable, to url: String, headers: [String: String])
}

extension MessageBus {
    /// Routes a message of a store, and waits for the reply.
    ///
    /// If `isExternal` is true, the store received the message from a peer, whose values cannot replace
    /// values of the path. `source` is the store's record of this attempt.
    ///
    /// - Throws: The errors of ``route(_:as:)``.
    package nonisolated(nonsending) func route(
        url: String,
        parameters: [String: any Sendable] = [:],
        headers: [String: String] = [:],
        payload: (any Sendable)? = nil,
        correlationID: CorrelationID? = nil,
        isExternal: Bool = false,
        timeout: Duration,
        source: any MessageSource
    ) async throws(RoutingError) -> Reply {
        // Yield before the path is matched, because the routes possibly change meanwhile.
        await EventLoop.yieldIfDue()
        let request = Request(
            url: url,
            passed: .make(parameters),
            extras: MessageExtras(
                payload: payload,
                headers: headers,
                correlationID: correlationID,
                source: source
            ),
            expiry: Deadline(after: timeout, by: self.core.time)
        ).inheriting(on: self.core.currentShard)
        // The loop has already counted this delivery, so deliver the message without a second yield.
        let delivery = self.core.performSteps(
            of: isExternal ? self.core.withoutPathOverrides(request) : request,
            on: self.core.currentShard
        )
        return try await self.core.result(of: delivery).reply(from: url)
    }
}

extension Message {
    /// The record of this delivery attempt in a store; nil for a message that no store delivers.
    package var source: (any MessageSource)? { self.extras?.source }
}
