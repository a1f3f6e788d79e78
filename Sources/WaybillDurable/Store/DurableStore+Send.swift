#if Durable
internal import WaybillEventLoop
internal import WaybillRouting

/// The number of a message in its store.
public struct DurableReceipt: Sendable, Hashable {
    /// The number, which the store uses for only one message.
    public let id: Int
    /// Whether ``id`` is an earlier message with the same key, so that this send has stored nothing.
    public let isDuplicate: Bool

    /// Creates a receipt, for tests of code that sends messages.
    public init(id: Int, isDuplicate: Bool) {
        self.id = id
        self.isDuplicate = isDuplicate
    }
}

extension DurableStore {
    /// Sends a message, and returns when the message is on disk.
    ///
    /// Other messages may overtake a message that is attempted again, and a message that waits because of its
    /// policy's limit on concurrent attempts, unless the messages have the same `order`.
    ///
    /// - Parameters:
    ///   - url: The URL to which the message is sent. The fragment can be a return URL, which receives the
    ///     value of the reply as a durable message.
    ///   - parameters: `Encodable` values in addition to the parameters in the URL, which are stored as JSON.
    ///   - headers: Text for middlewares, in addition to the headers that the middlewares of the bus add.
    ///   - key: A text that identifies the message. For ``DurableStore/Configuration/keyLifetime``, a second
    ///     send with the same key stores nothing. The time begins when the message is due.
    ///   - after: How long to wait before the first attempt.
    ///   - order: The order key. The store handles messages with the same order key one after the other.
    ///   - lifetime: How long the message is valid. After this time, the message becomes a dead letter.
    /// - Returns: The number of the message.
    /// - Throws: ``/WaybillRouting/RoutingError`` with `invalidURL` or `notTransferable`; ``DurableError``
    ///   with `sizeLimitReached`, `diskFull`, `stopped` or `closed`.
    @discardableResult
    public func send(
        _ url: String,
        parameters: [String: any Sendable] = [:],
        headers: [String: String] = [:],
        key: String? = nil,
        after: Duration = .zero,
        order: String? = nil,
        lifetime: Duration? = nil
    ) async throws -> DurableReceipt {
        let settings = self.engine.settings
        let headers = headers.merging(settings.senderHeaders) { own, _ in own }
        let details = MessageDetails(parameters: parameters, headers: headers)
        var message = try StoredMessage(url, details, by: settings.policies)
        (message.key, message.delay, message.order, message.lifetime) = (key, after, order, lifetime)
        return try await self.engine.perform { [message] batch in try batch.send(message) }
    }
}

extension StoreEngine {
    /// Performs work of the store in a batch, and waits until the work is on disk.
    nonisolated func perform<Value: Sendable>(
        _ work: @escaping @Sendable (Batch) throws -> Value
    ) async throws -> Value {
        // A caller on an event loop continues there without a detour through another thread.
        let continuation = LoopContinuation<Result<Value, any Error>>(on: .current)
        self.enqueue(
            StoreWork { batch in
                let result = Result { try work(batch) }
                return { continuation.resume(returning: result) }
            } reject: { error in
                continuation.resume(returning: .failure(error))
            }
        )
        return try await continuation.wait().get()
    }
}
#endif
