#if Durable
internal import Logging
public import Waybill
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
    ///   - headers: Text for middlewares and other infrastructure. The middlewares of the bus to which the
    ///     store is attached add their headers, so that the trace of the sender continues.
    ///   - key: A text that identifies the message. For ``DurableStore/Configuration/keyLifetime``, a second
    ///     send with the same key stores nothing.
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
        var message = try NewMessage(url, details, by: settings.policies)
        (message.key, message.delay, message.order, message.lifetime) = (key, after, order, lifetime)
        return try await self.engine.perform { [message] batch in try batch.send(message) }
    }

    /// Runs a transaction on the store's file.
    ///
    /// The rows that the closure writes and the messages that it sends take effect together, or not at all,
    /// if the closure throws.
    ///
    /// The closure runs on the thread of the store, and other sends wait until the closure returns, so do not
    /// block in it. The store may run the closure again when another transaction of the same commit fails, so
    /// the closure must have no effects outside of the transaction.
    ///
    /// - Returns: The result of the closure, after the transaction is on disk.
    /// - Throws: The error of the closure; ``DurableError`` with `diskFull`, `stopped` or `closed`.
    @discardableResult
    public func transaction<Value: Sendable>(
        _ body: @escaping @Sendable (DurableTransaction) throws -> Value
    ) async throws -> Value {
        try await self.engine.performTransaction { transaction, _ in try body(transaction) }
    }

    /// Sets the policy by which messages of some URLs are delivered.
    ///
    /// If several patterns match a URL, the most specific pattern applies. The limit on concurrent attempts
    /// applies to messages that are sent after the policy was set.
    ///
    /// - Throws: `invalidPattern`, or `conflict` if the pattern of another policy of the store matches the
    ///   same URLs.
    public func setPolicy(_ policy: DurablePolicy, for pattern: String) throws(RoutingError) {
        try self.engine.updateSettings { settings throws(RoutingError) in
            var policies = settings.policies
            try policies.add(policy, for: pattern)
            return StoreSettings(settings.configuration, policies: policies, bus: settings.bus)
        }
    }
}

extension StoreEngine {
    /// Performs work of the store in a batch, and waits until the work is on disk.
    nonisolated func perform<Value: Sendable>(
        _ work: @escaping @Sendable (Batch) throws -> Value
    ) async throws -> Value {
        try await self.result { batch in batch.attempt { try work(batch) } }
    }

    private nonisolated func result<Value: Sendable>(
        of work: @escaping @Sendable (Batch) -> Result<Value, any Error>
    ) async throws -> Value {
        // A caller on an event loop continues there without a detour through another thread.
        let continuation = LoopContinuation<Result<Value, any Error>>(on: .current)
        self.enqueue(
            StoreWork { batch in
                let result = work(batch)
                return { continuation.resume(returning: result) }
            } reject: { error in
                continuation.resume(returning: .failure(error))
            }
        )
        return try await continuation.wait().get()
    }

    /// Runs a transaction of the program in a savepoint, so that its failure does not affect other work.
    nonisolated func performTransaction<Value: Sendable>(
        _ body: @escaping @Sendable (DurableTransaction, Batch) throws -> Value
    ) async throws -> Value {
        // The closure does not run in a task, so read the headers of the calling task here.
        let headers = self.settings.senderHeaders
        return try await self.result { batch in
            let transaction = DurableTransaction(batch, senderHeaders: headers)
            let start = ContinuousClock.now
            let result = batch.attemptProgram { try body(transaction, batch) }
            transaction.batch = nil
            let duration = ContinuousClock.now - start
            let configuration = batch.settings.configuration
            if duration > configuration.slowTransaction {
                configuration.logger.warning(
                    "a transaction kept all sends of the store waiting; make it shorter",
                    metadata: ["duration": "\(duration)"]
                )
            }
            return result
        }
    }
}
#endif
