#if Durable
public import Waybill
internal import WaybillRouting

/// A middleware that stores the durable messages of other processes in the store of this process.
///
/// <doc:DurableMessages> describes which messages the receiver stores, and which headers must reach this
/// process. A message whose header `waybill-durable` is empty fails with `invalidParameter`. In the store,
/// the order key of a message begins with `waybill-durable `.
///
/// The store delivers a message as a message of this process, so its ``/Waybill/Message/origin`` is then
/// `local`. Add middlewares that check the origin or a token before the receiver.
public struct DurableReceiver: Middleware {
    /// The header by which a store identifies itself and the message that it sends.
    static let header = "waybill-durable"
    /// The header with the order key; messages with the same order key are handled one after the other.
    static let orderHeader = "waybill-durable-order"
    /// The header with the time in milliseconds for which the message is still valid.
    static let lifetimeHeader = "waybill-durable-lifetime"

    private let store: DurableStore
    private let memory: Duration

    /// Creates a middleware.
    ///
    /// - Parameters:
    ///   - store: The store that keeps the messages. Attach the store to the bus of the middleware.
    ///   - memory: How long the store recognizes a message that arrives again. Choose a time that is longer
    ///     than any time for which a sender cannot reach this process.
    public init(_ store: DurableStore, memory: Duration = .seconds(30 * 86_400)) {
        self.store = store
        self.memory = memory
    }

    /// Commits a durable message of another process, and passes other messages on.
    public nonisolated(nonsending) func handle(
        _ message: Message,
        context: borrowing MiddlewareContext,
        next: borrowing Next
    ) async throws -> any Sendable {
        // A stored message is delivered as a message of this process, whose return URL need not be exposed.
        // Therefore, never store a URL with a fragment of a peer. The store routes its messages, so a stored
        // publication would call a handler that is possibly not exposed for calls.
        let url = message.parameters.url
        guard message.origin != .local, !context.isPublication, let number = message.headers[Self.header],
            !url.utf8.contains(UInt8(ascii: "#"))
        else { return try await next(message) }
        // All messages with this number would be one message.
        guard !number.isEmpty else {
            throw RoutingError(.invalidParameter, url: url, message: "the header \(Self.header) is empty")
        }
        var details = MessageDetails(
            parameters: message.parameters.passedValues,
            headers: message.headers,
            payload: message.rawPayload,
            answers: message.correlationID.map { Int(truncatingIfNeeded: $0.rawValue) },
            isExternal: true
        )
        details.headers[Self.header] = nil
        let order = details.headers.removeValue(forKey: Self.orderHeader)
        let lifetime = details.headers.removeValue(forKey: Self.lifetimeHeader).flatMap { Int($0) }
        var stored = try StoredMessage(url, details, by: self.store.engine.settings.policies)
        // The key is twice in the file, so the prefix that separates it from local keys is short.
        stored.key = "\u{1}\(number)"
        stored.keyLifetime = self.memory
        // Without the prefix, a peer could make messages of this process wait for its own messages.
        stored.order = order.map { "\(Self.header) \($0)" }
        stored.lifetime = lifetime.map { .milliseconds($0) }
        _ = try await self.store.engine.perform { [stored] batch in try batch.send(stored) }
        return ()
    }
}
#endif
