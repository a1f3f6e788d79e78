#if Durable
internal import Logging
public import Waybill
internal import WaybillRouting

/// The number of a message in its store.
public struct DurableReceipt: Sendable, Hashable {
    /// The number, which the store uses once.
    public let id: Int

    /// Whether a message was sent with the same key before, so that this send had no effect.
    ///
    /// ``id`` is then the number of that message.
    public let isDuplicate: Bool

    /// Creates a receipt, for tests of code that sends.
    public init(id: Int, isDuplicate: Bool) {
        self.id = id
        self.isDuplicate = isDuplicate
    }
}

extension DurableStore {
    /// Sends a message, and returns when it is on disk.
    ///
    /// The store handles messages in the order in which they were sent, but a message that is tried again, or
    /// that waits for a slot of its policy, may be overtaken. Messages of one `order` are not overtaken.
    ///
    /// - Parameters:
    ///   - url: The destination. The fragment can be a return URL: the value of the reply is sent to it as a
    ///     durable message, in the commit that completes this one.
    ///   - parameters: More parameters. A value must be `Encodable`; it is stored as JSON.
    ///   - headers: Text for the infrastructure. Middlewares of the bus to which the store is attached add
    ///     theirs, so that the trace of the sender continues.
    ///   - key: A text that makes a repeated send have no effect for
    ///     ``DurableStore/Configuration/keyLifetime``.
    ///   - after: How long to wait before the first attempt.
    ///   - order: A name. Messages with the same name are handled one after the other.
    ///   - lifetime: How long the message is valid. It then becomes a dead letter.
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
        try await self.send(
            NewMessage(
                url: url,
                details: MessageDetails(
                    parameters: parameters,
                    headers: headers.merging(self.engine.settings.senderHeaders) { own, _ in own }
                ),
                by: self.engine.settings.value.policies,
                key: key,
                delay: after,
                order: order,
                lifetime: lifetime
            )
        )
    }

    @discardableResult
    func send(_ message: NewMessage) async throws -> DurableReceipt {
        try await self.engine.perform { batch in try batch.send(message) }
    }

    /// Runs a transaction on the store's file: its writes and its messages take effect together, or not at
    /// all.
    ///
    /// The closure runs on the thread of the store, and other sends wait meanwhile. Keep it short, and do not
    /// block in it. It may run again when another transaction of the same moment fails, so it must have no
    /// effects beside the transaction.
    ///
    /// - Parameter body: A closure that writes and sends. If it throws, nothing of it takes effect.
    /// - Returns: The result of the closure, when the transaction is on disk.
    /// - Throws: The error of the closure; ``DurableError`` with `diskFull`, `stopped` or `closed`.
    @discardableResult
    public func transaction<Value: Sendable>(
        _ body: @escaping @Sendable (DurableTransaction) throws -> Value
    ) async throws -> Value {
        try await self.engine.performTransaction { transaction, _ in try body(transaction) }
    }

    /// Sets how messages of some URLs are delivered.
    ///
    /// The limit on concurrent attempts applies to messages that are sent after the policy was set.
    ///
    /// - Parameters:
    ///   - policy: The policy.
    ///   - pattern: The pattern of the URLs. The most specific pattern that matches a URL counts.
    /// - Throws: `invalidPattern`, or `conflict` if the pattern of another policy of the store matches the
    ///   same URLs.
    public func setPolicy(_ policy: DurablePolicy, for pattern: String) throws(RoutingError) {
        try self.engine.settings.updatePolicies { policies throws(RoutingError) in
            var policies = policies
            try policies.add(policy, for: pattern)
            return policies
        }
    }
}

extension StoreEngine {
    /// Performs work of the store in a batch, and waits until it is on disk.
    nonisolated func perform<Value: Sendable>(
        _ work: @escaping @Sendable (Batch) throws -> Value
    ) async throws -> Value {
        try await self.result { batch in batch.attempt { try work(batch) } }
    }

    /// Performs work in a batch, and waits until its result is on disk.
    private nonisolated func result<Value: Sendable>(
        of work: @escaping @Sendable (Batch) -> Result<Value, any Error>
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Value, any Error>) in
            self.enqueue(
                StoreWork { batch in
                    let result = work(batch)
                    return { continuation.resume(with: result) }
                } reject: { error in
                    continuation.resume(throwing: error)
                }
            )
        }
    }

    /// Runs a transaction of the program in a savepoint of a batch.
    nonisolated func performTransaction<Value: Sendable>(
        _ body: @escaping @Sendable (DurableTransaction, Batch) throws -> Value
    ) async throws -> Value {
        // The closure runs in no task, so the headers of the calling task are read here.
        let headers = self.settings.senderHeaders
        return try await self.result { batch in
            let transaction = DurableTransaction(batch, senderHeaders: headers)
            let clock = ContinuousClock()
            let start = clock.now
            let result = batch.attemptProgram { try body(transaction, batch) }
            transaction.end()
            let duration = start.duration(to: clock.now)
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
