#if Durable
internal import WaybillRouting

/// A transaction on the file of a store, which is valid until the closure that received it returns.
public final class DurableTransaction {
    /// The batch of the transaction; nil after the closure of the transaction has returned.
    var batch: Batch?
    private let senderHeaders: [String: String]

    init(_ batch: Batch, senderHeaders: [String: String]) {
        self.batch = batch
        self.senderHeaders = senderHeaders
    }

    private func current() throws(DurableError) -> Batch {
        guard let batch else {
            let message = "the transaction was used after its closure had returned; write within the closure"
            throw DurableError(.transactionEnded, message: message)
        }
        try batch.checkTransaction()
        // SQLite refuses further statements of the program, but not the statements of a send.
        try batch.checkLimit()
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
        let statement = try self.current().database.prepare(sql)
        let columns = statement.columns
        return try statement.rows(values) { $0.row(columns) }
    }

    /// Sends a message, as ``DurableStore/send(_:parameters:headers:key:after:order:lifetime:)`` does.
    ///
    /// - Throws: ``/WaybillRouting/RoutingError`` with `invalidURL` or `notTransferable`; ``DurableError``
    ///   with `sizeLimitReached`.
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
        var message = try NewMessage(url, details, by: batch.settings.policies)
        (message.key, message.delay, message.order, message.lifetime) = (key, after, order, lifetime)
        return try batch.database.withStoreAccess { try batch.send(message) }
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
#endif
