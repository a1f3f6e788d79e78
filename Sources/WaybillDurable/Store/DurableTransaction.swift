#if Durable
public import Waybill
internal import WaybillRouting

/// A transaction on the file of a store, which is valid until the closure that received it returns.
public final class DurableTransaction {
    /// The batch of the transaction; nil after the closure of the transaction has returned.
    var batch: Batch?
    private let senderHeaders: [String: String]
    /// Whether the transaction completes a message, so that the limit on the file's size does not apply.
    private let isFollowUp: Bool

    init(_ batch: Batch, senderHeaders: [String: String], isFollowUp: Bool) {
        self.batch = batch
        self.senderHeaders = senderHeaders
        self.isFollowUp = isFollowUp
    }

    private func current() throws(DurableError) -> Batch {
        guard let batch else {
            let message = "the transaction was used after its closure had returned; write within the closure"
            throw DurableError(.transactionEnded, message: message)
        }
        // SQLite refuses further statements of the program, but not the statements of a send.
        try batch.checkProgram()
        return batch
    }

    /// Runs an SQL statement.
    ///
    /// The statement can use all tables of the file, but it cannot change tables whose names begin with
    /// `waybill_`. It cannot end the transaction, attach a database, or change settings except
    /// `user_version` and `application_id`. It can read the schema and the settings.
    ///
    /// - Parameters:
    ///   - sql: One SQL statement, with a `?` for each value.
    ///   - values: The values, in the order of the question marks.
    /// - Returns: The number of rows that were inserted, changed or deleted.
    /// - Throws: ``DurableError`` with `invalidStatement` or `statementFailed`.
    @discardableResult
    public func execute(_ sql: String, _ values: (any SQLBindable)...) throws(DurableError) -> Int {
        let database = try self.current().database
        let before = database.totalChanges
        try database.prepare(sql).run(values)
        return database.totalChanges == before ? 0 : database.changes
    }

    /// Returns the rows of an SQL query, which has the parameters and errors of ``execute(_:_:)``.
    public func query(_ sql: String, _ values: (any SQLBindable)...) throws(DurableError) -> [SQLRow] {
        try self.current().database.prepare(sql).table(values)
    }

    /// Sends a message, as ``DurableStore/send(_:parameters:headers:key:after:order:lifetime:)`` does.
    ///
    /// - Throws: ``/WaybillRouting/RoutingError`` with `invalidURL` or `notTransferable`; ``DurableError``
    ///   with `sizeLimitReached`, except in the closure of `Message.complete`.
    @discardableResult
    public func send(
        _ url: String,
        parameters: [String: any Sendable] = [:],
        headers: [String: String] = [:],
        key: String? = nil,
        after: Duration = .zero,
        order: String? = nil,
        lifetime: Duration? = nil
    ) throws -> DurableReceipt {
        let batch = try self.current()
        let headers = headers.merging(self.senderHeaders) { own, _ in own }
        let details = MessageDetails(parameters: parameters, headers: headers)
        var message = try StoredMessage(url, details, by: batch.settings.policies)
        (message.key, message.delay, message.order, message.lifetime) = (key, after, order, lifetime)
        return try batch.database.withStoreAccess { try batch.send(message, isFollowUp: self.isFollowUp) }
    }

    /// Calls a closure with the connection of SQLite, a `sqlite3 *`, and returns the closure's result.
    ///
    /// The connection is valid until the closure returns. The closure must not end the transaction, close the
    /// connection, or keep a reference to it. It must not replace the connection's authorizer, progress
    /// handler or WAL hook, which the store uses.
    ///
    /// - Throws: `transactionEnded`, and the error of the closure.
    @unsafe
    public func withUnsafeConnection<Result>(_ body: (OpaquePointer) throws -> Result) throws -> Result {
        try unsafe self.current().database.withConnection(body)
    }
}

extension DurableStore {
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
}

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
        let (value, hasSent) = try await attempt.engine.performTransaction(isFollowUp: true) {
            transaction,
            batch in
            let value = try body(transaction)
            var reply = try attempt.returned()
            let hasSent = reply != nil
            if let returnURL, !hasSent { reply = try attempt.encode(value, for: returnURL, headers: headers) }
            // The closure possibly ignored the failure of a statement that rolled the transaction back. The
            // deletion of the message would then be a commit by itself.
            try batch.checkProgram()
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

extension StoreEngine {
    /// Runs a transaction of the program in a savepoint, so that its failure does not affect other work.
    nonisolated func performTransaction<Value: Sendable>(
        isFollowUp: Bool = false,
        _ body: @escaping @Sendable (DurableTransaction, Batch) throws -> Value
    ) async throws -> Value {
        // The closure does not run in a task, so read the headers of the calling task here.
        let headers = self.settings.senderHeaders
        return try await self.perform { batch in
            let transaction = DurableTransaction(batch, senderHeaders: headers, isFollowUp: isFollowUp)
            defer { transaction.batch = nil }
            return try batch.runProgram { try body(transaction, batch) }
        }
    }
}
#endif
