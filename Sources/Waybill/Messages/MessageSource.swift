internal import WaybillEventLoop
internal import WaybillRouting

/// A store's record of one attempt to deliver a message.
///
/// The store delivers the message again when an attempt fails.
package protocol MessageSource: AnyObject, Sendable {
    /// Accepts the value for the message's return URL.
    ///
    /// The bus then does not send the value itself.
    ///
    /// Any thread may call this method, at most once for each message.
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
    ///   - timeout: The time that the store waits for the reply.
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
    /// The record of this delivery attempt in a store; nil for a message that no store delivers.
    package var source: (any MessageSource)? { self.extras?.source }
}
