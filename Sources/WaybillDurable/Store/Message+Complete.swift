#if Durable
public import Waybill
internal import WaybillRouting

extension Message {
    /// The number of attempts to handle this message that have begun, including this one; nil for a message
    /// that no store delivers.
    public var attempt: Int? { (self.source as? DurableAttempt)?.message.attempts }

    /// The number of this message in its store; nil for a message that no store delivers.
    public var durableID: Int? { (self.source as? DurableAttempt)?.message.id }

    /// Completes a durable message in one commit with writes and further messages.
    ///
    /// The writes take effect exactly once, however often the handler is called: either the commit is on
    /// disk, and the message is never delivered again, or nothing of it is.
    ///
    /// ```swift
    /// @Route func ship(order: Int, message: Message) async throws {
    ///     let label = try await self.carrier.label(order)
    ///     try await message.complete { transaction in
    ///         try transaction.execute("UPDATE orders SET label = ? WHERE id = ?", label, order)
    ///         try transaction.send("app://mail/shipped?order=\(order)")
    ///     }
    /// }
    /// ```
    ///
    /// If the message has a return URL, the result of the closure is sent to it in the same commit, and the
    /// value that the handler returns later is not.
    ///
    /// - Parameter body: A closure that writes and sends. It runs on the thread of the store, and other sends
    ///   wait meanwhile. If it throws, nothing of it takes effect, and the message is not completed.
    /// - Returns: The result of the closure.
    /// - Throws: ``DurableError`` with `notDurable` if no store delivers the message, and `attemptEnded` if
    ///   the message is completed, or its timeout has passed; the error of the closure; the errors of
    ///   ``DurableStore/transaction(_:)``.
    @discardableResult
    public func complete<Value: Sendable>(
        _ body: @escaping @Sendable (DurableTransaction) throws -> Value
    ) async throws -> Value {
        guard let attempt = self.source as? DurableAttempt else {
            throw DurableError(
                .notDurable,
                message: "\(self) was not delivered by a store; send it with DurableStore.send"
            )
        }
        let (returnURL, headers) = (self.returnURL, self.headers)
        let value = try await attempt.engine.performTransaction { transaction, batch in
            let value = try body(transaction)
            let returned = try returnURL.map { try attempt.encode(value, for: $0, headers: headers) }
            let isUnderway = try batch.tables.database.withStoreAccess {
                try batch.complete(attempt.message, returning: returned)
            }
            guard isUnderway else {
                throw DurableError(
                    .attemptEnded,
                    message: "message \(attempt.message.id) to \(attempt.message.url) is completed, or the "
                        + "timeout of its policy has passed, so nothing was written"
                )
            }
            return value
        }
        attempt.noteCompletion()
        self.declineReturn()
        return value
    }
}
#endif
