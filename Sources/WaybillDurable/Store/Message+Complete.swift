#if Durable
public import Waybill
internal import WaybillRouting

extension Message {
    /// The number of attempts that have begun, with the current one; nil if no store delivers the message.
    public var attempt: Int? { (self.source as? DurableAttempt)?.message.attempts }

    /// The number of this message in its store; nil if no store delivers the message.
    public var durableID: Int? { (self.source as? DurableAttempt)?.message.id }

    /// Completes a durable message in one commit with rows that a closure writes and messages that it sends.
    ///
    /// The writes take effect exactly once, however often the handler is called. If the commit is on disk,
    /// the message is never delivered again. If the commit is not on disk, no part of it takes effect.
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
    /// If the message has a return URL, the result of the closure is sent to the return URL in the same
    /// commit. If the handler has called `sendReturn` before, that value is sent instead. The value that the
    /// handler returns later is not sent.
    ///
    /// - Parameter body: A closure that writes rows and sends messages, as in
    ///   ``DurableStore/transaction(_:)``. If it throws, the message is not completed.
    /// - Returns: The result of the closure.
    /// - Throws: The errors of ``DurableStore/transaction(_:)``. `notDurable` if no store delivers the
    ///   message. `attemptEnded` if the message is completed, or the timeout of its policy has passed.
    @discardableResult
    public func complete<Value: Sendable>(
        _ body: @escaping @Sendable (DurableTransaction) throws -> Value
    ) async throws -> Value {
        guard let attempt = self.source as? DurableAttempt else {
            let message = "\(self) was not delivered by a store; send it with DurableStore.send"
            throw DurableError(.notDurable, message: message)
        }
        let (returnURL, headers) = (self.returnURL, self.headers)
        let (value, hasSent) = try await attempt.engine.performTransaction { transaction, batch in
            let value = try body(transaction)
            var reply = try attempt.returned()
            let hasSent = reply != nil
            if let returnURL, !hasSent { reply = try attempt.encode(value, for: returnURL, headers: headers) }
            // The closure possibly ignored the failure of a statement that rolled the transaction back. The
            // deletion of the message would then be a commit by itself.
            try batch.checkTransaction()
            let isUnderway = try batch.database.withStoreAccess {
                try !attempt.hasEnded && batch.complete(attempt.message, returning: reply)
            }
            guard isUnderway else {
                let message =
                    "message \(attempt.message.id) to \(attempt.message.url) is completed, or the timeout of "
                    + "its policy has passed, so nothing was written"
                throw DurableError(.attemptEnded, message: message)
            }
            return (value, hasSent)
        }
        attempt.noteCompletion(to: returnURL, sendingReturned: hasSent)
        self.declineReturn()
        return value
    }
}
#endif
