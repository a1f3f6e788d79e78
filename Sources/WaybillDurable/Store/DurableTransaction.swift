#if Durable
internal import WaybillRouting

/// A transaction on the file of a store.
///
/// The transaction is valid until the closure that received it returns.
public final class DurableTransaction {
    private var batch: Batch?
    /// The headers that each message receives in addition to its own headers.
    private let senderHeaders: [String: String]

    init(_ batch: Batch, senderHeaders: [String: String]) {
        self.batch = batch
        self.senderHeaders = senderHeaders
    }

    func end() { self.batch = nil }

    private func current() throws(DurableError) -> Batch {
        guard let batch else {
            throw DurableError(
                .transactionEnded,
                message: "the transaction was used after its closure had returned; write within the closure"
            )
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

    /// Runs an SQL query.
    ///
    /// - Parameters:
    ///   - sql: One SQL statement, with a `?` for each value.
    ///   - values: The values, in the order of the question marks.
    /// - Returns: The rows of the result.
    /// - Throws: ``DurableError`` with `invalidStatement` or `statementFailed`.
    public func query(_ sql: String, _ values: (any SQLBindable)...) throws(DurableError) -> [SQLRow] {
        let statement = try self.current().database.prepare(sql)
        let columns = statement.columns
        return try statement.rows(values) { $0.row(columns) }
    }

    /// Sends a message in the transaction.
    ///
    /// - Parameters:
    ///   - url: The URL to which the message is sent. The URL's fragment can be a return URL.
    ///   - parameters: Parameters in addition to the parameters in the URL. A value must be `Encodable`, and
    ///     is stored as JSON.
    ///   - headers: Text for middlewares and other infrastructure, in addition to the headers of the bus's
    ///     middlewares.
    ///   - key: A text that identifies the message. A second send with the same key stores nothing.
    ///   - after: How long to wait before the first attempt.
    ///   - order: The order key. The store handles messages with the same order key one after the other.
    ///   - lifetime: How long the message is valid. After this time, the message becomes a dead letter.
    /// - Returns: The number of the message.
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

    /// Calls a closure with the connection of SQLite, for calls of SQLite's C library.
    ///
    /// The connection is valid until the closure returns. The closure must not end the transaction, close the
    /// connection, or keep a reference to it. It must not replace the connection's authorizer, progress
    /// handler or WAL hook, which the store uses.
    ///
    /// - Parameter body: A closure that receives the connection, a `sqlite3 *`.
    /// - Returns: The result of the closure.
    /// - Throws: `transactionEnded`, and the error of the closure.
    @unsafe
    public func withUnsafeConnection<Result>(_ body: (OpaquePointer) throws -> Result) throws -> Result {
        try unsafe self.current().database.withConnection(body)
    }
}
#endif
