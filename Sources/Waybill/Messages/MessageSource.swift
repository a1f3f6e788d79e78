internal import WaybillEventLoop
internal import WaybillRouting

/// A store that delivers a message, and delivers it again when an attempt fails.
package protocol MessageSource: AnyObject, Sendable {
    /// Accepts the value for the message's return URL, instead of the bus.
    ///
    /// May be called from any thread, at most once for a message.
    func sendReturn(_ value: any Sendable, to url: String, headers: [String: String])
}

/// A message that a store delivers.
package struct SourcedRequest: Sendable {
    fileprivate let content: Request

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - url: The destination.
    ///   - parameters: The values that are passed with the URL.
    ///   - headers: Text for the infrastructure.
    ///   - payload: The value that the message carries, as a message to a return URL does.
    ///   - correlationID: The ID of the message that this message answers.
    ///   - timeout: How long the store waits.
    ///   - bus: The bus whose clock measures the timeout.
    ///   - source: The store's record of this attempt.
    package init(
        url: String,
        parameters: [String: any Sendable],
        headers: [String: String],
        payload: (any Sendable)?,
        correlationID: CorrelationID?,
        timeout: Duration,
        on bus: MessageBus,
        source: any MessageSource
    ) {
        self.content = Request(
            url: url,
            passed: .make(parameters),
            extras: MessageExtras(
                payload: payload,
                headers: headers,
                correlationID: correlationID,
                source: source
            ),
            expiry: Deadline(after: timeout, by: bus.core.time)
        )
    }
}

extension MessageBus {
    /// Routes a message of a store, and waits for the reply.
    package nonisolated(nonsending) func route(_ request: SourcedRequest) async throws(RoutingError) -> Reply
    {
        try await self.core.deliverAndWait(request.content).reply(from: request.content.url)
    }
}

extension Message {
    /// The store's record of this attempt; nil for a message that no store delivers.
    package var source: (any MessageSource)? { self.extras?.source }
}
