#if Durable
/// The statements on the tables of a store.
///
/// The names of the tables begin with `waybill_`. A program can have other tables in the same file.
final class StoreTables {
    static let schema = 1
    /// The size of a page of the file, in bytes.
    ///
    /// If the program created the file, the program has chosen the size.
    private let pageSize: Int

    let database: Database
    private let insertStatement, deleteStatement, beginStatement, retryStatement, followStatement: Statement
    private let orderStatement, keyStatement, keepKeyStatement, dropKeysStatement: Statement
    private let buryStatement: Statement
    private let transactionStatement, commitStatement, savepointStatement, releaseStatement: Statement
    private let rollbackStatement: Statement
    private let dueStatement, nextDueStatement, pagesStatement, freePagesStatement: Statement

    /// Prepares the statements.
    ///
    /// The tables must exist.
    init(_ database: Database) throws(DurableError) {
        self.database = database
        self.insertStatement = try database.prepare(
            """
            INSERT INTO waybill_messages
            (id, state, url, lane, due, sent, attempts, expires, order_key, details) VALUES (?,?,?,?,?,?,?,?,?,?)
            """
        )
        self.deleteStatement = try database.prepare(
            "DELETE FROM waybill_messages WHERE id = ? AND state = 1 AND attempts = ?"
        )
        self.beginStatement = try database.prepare(
            "UPDATE waybill_messages SET state = 1, attempts = ? WHERE id = ?"
        )
        self.retryStatement = try database.prepare(
            """
            UPDATE waybill_messages SET state = 0, lane = ?, due = ?, attempts = ?, failure = ?, interruptions = 0
            WHERE id = ? AND state = 1 AND attempts = ?
            """
        )
        self.followStatement = try database.prepare(
            """
            UPDATE waybill_messages SET state = 0 WHERE state = 2 AND id =
            (SELECT min(id) FROM waybill_messages WHERE order_key = ?) RETURNING lane
            """
        )
        self.orderStatement = try database.prepare(
            "SELECT 1 FROM waybill_messages WHERE order_key = ? LIMIT 1"
        )
        self.keyStatement = try database.prepare("SELECT id FROM waybill_keys WHERE key = ? AND expires > ?")
        self.keepKeyStatement = try database.prepare(
            "INSERT OR REPLACE INTO waybill_keys (key, id, expires) VALUES (?,?,?)"
        )
        self.dropKeysStatement = try database.prepare(
            """
            DELETE FROM waybill_keys WHERE key IN
            (SELECT key FROM waybill_keys WHERE expires <= ? ORDER BY expires LIMIT ?)
            """
        )
        self.dueStatement = try database.prepare(
            """
            SELECT id, url, order_key, details, attempts, expires, sent FROM waybill_messages
            WHERE lane = ? AND state = 0 AND due <= ? ORDER BY due, id LIMIT ?
            """
        )
        self.nextDueStatement = try database.prepare(
            "SELECT min(due) FROM waybill_messages WHERE lane = ? AND state = 0"
        )
        self.transactionStatement = try database.prepare("BEGIN IMMEDIATE")
        self.commitStatement = try database.prepare("COMMIT")
        self.savepointStatement = try database.prepare("SAVEPOINT program")
        self.releaseStatement = try database.prepare("RELEASE program")
        self.rollbackStatement = try database.prepare("ROLLBACK TO program")
        self.buryStatement = try database.prepare(
            """
            INSERT INTO waybill_dead (id, url, order_key, details, sent, died, attempts, code, failure)
            SELECT id, url, order_key, details, sent, ?, attempts, ?, ? FROM waybill_messages
            WHERE id = ? AND state = 1 AND attempts = ?
            """
        )
        self.pageSize = try database.prepare("PRAGMA page_size").first { $0.int(0) } ?? 4_096
        self.pagesStatement = try database.prepare("PRAGMA page_count")
        self.freePagesStatement = try database.prepare("PRAGMA freelist_count")
    }

    func begin() throws(DurableError) { try self.transactionStatement.run() }

    func commit() throws(DurableError) { try self.commitStatement.run() }

    /// Begins the savepoint around a transaction of the program.
    func beginProgram() throws(DurableError) { try self.savepointStatement.run() }

    func endProgram() throws(DurableError) { try self.releaseStatement.run() }

    /// Undoes a transaction of the program, and ends the savepoint of the transaction.
    func undoProgram() throws(DurableError) {
        try self.rollbackStatement.run()
        try self.releaseStatement.run()
    }

    /// The states of a message that is neither completed nor a dead letter.
    enum State: Int64 {
        case waiting = 0
        case begun = 1
        /// The message waits until an earlier message with the same order key is completed or is a dead
        /// letter.
        case behind = 2
    }

    func insert(
        _ message: NewMessage,
        as state: State,
        id: Int,
        at now: Int
    ) throws(DurableError) {
        try self.insertStatement.run(
            id.sqlValue,
            .int(state.rawValue),
            .text(message.url),
            .text(message.lane),
            .int(Int64(StoreClock.adding(message.delay, to: now))),
            now.sqlValue,
            .int(state == .begun ? 1 : 0),
            message.lifetime.map { .int(Int64(StoreClock.adding($0, to: now))) } ?? .null,
            message.order.sqlValue,
            message.details.sqlValue
        )
    }

    /// Deletes a message whose attempt is underway.
    ///
    /// - Returns: Whether the attempt was still underway.
    func delete(_ id: Int, attempt: Int) throws(DurableError) -> Bool {
        try self.deleteStatement.run(id.sqlValue, attempt.sqlValue)
        return self.database.changes == 1
    }

    func begin(_ id: Int, attempt: Int) throws(DurableError) {
        try self.beginStatement.run(attempt.sqlValue, id.sqlValue)
    }

    /// Ends an attempt, so that the message waits for the next attempt.
    ///
    /// - Returns: Whether the attempt was still underway.
    func retry(
        _ message: BegunMessage,
        in lane: String,
        at due: Int,
        attempts: Int,
        failure: String?
    ) throws(DurableError) -> Bool {
        try self.retryStatement.run(
            .text(lane),
            due.sqlValue,
            attempts.sqlValue,
            failure.sqlValue,
            message.id.sqlValue,
            message.attempts.sqlValue
        )
        return self.database.changes == 1
    }

    /// Copies a message whose attempt is underway to the table of dead letters.
    func bury(_ message: BegunMessage, code: String, failure: String, at now: Int) throws(DurableError) {
        try self.buryStatement.run(
            now.sqlValue,
            .text(code),
            .text(failure),
            message.id.sqlValue,
            message.attempts.sqlValue
        )
    }

    /// Makes the first remaining message with an order key ready for an attempt.
    ///
    /// The previous message with this order key has been completed or is a dead letter.
    ///
    /// - Returns: The lane of that message; nil if no other message has the order key.
    func follow(_ order: String) throws(DurableError) -> String? {
        try self.followStatement.first(.text(order)) { $0.text(0) } ?? nil
    }

    func hasMessage(inOrder order: String) throws(DurableError) -> Bool {
        try self.orderStatement.first(.text(order)) { _ in true } ?? false
    }

    /// Returns the number of the message that was sent with a key; nil if no message has the key, or if the
    /// key has expired.
    func message(withKey key: String, at now: Int) throws(DurableError) -> Int? {
        try self.keyStatement.first(.text(key), now.sqlValue) { $0.int(0) }
    }

    /// Keeps the key of a message until a given time, and deletes at most two expired keys.
    func keep(_ key: String, of id: Int, until expiry: Int, at now: Int) throws(DurableError) {
        try self.keepKeyStatement.run(.text(key), id.sqlValue, expiry.sqlValue)
        try self.dropKeys(at: now, limit: 2)
    }

    /// Deletes expired keys, at most `limit`.
    func dropKeys(at now: Int, limit: Int) throws(DurableError) {
        try self.dropKeysStatement.run(now.sqlValue, limit.sqlValue)
    }

    /// Returns the waiting messages of a lane that are due.
    ///
    /// The number of attempts of each message includes the attempt that is going to begin.
    func dueMessages(of lane: String, at now: Int, limit: Int) throws(DurableError) -> [BegunMessage] {
        var messages: [BegunMessage] = []
        try self.dueStatement.forEachRow([.text(lane), now.sqlValue, limit.sqlValue]) {
            let row = self.dueStatement
            messages.append(
                BegunMessage(
                    id: row.int(0),
                    url: row.text(1) ?? "",
                    lane: lane,
                    order: row.text(2),
                    details: row.text(3),
                    attempts: row.int(4) + 1,
                    expires: row.optionalInt(5),
                    sent: row.int(6)
                )
            )
        }
        return messages
    }

    /// Returns the time at which the first waiting message of a lane is due; nil if no message waits.
    func nextDue(of lane: String) throws(DurableError) -> Int? {
        try self.nextDueStatement.first(.text(lane)) { $0.optionalInt(0) } ?? nil
    }

    /// The number of bytes of the file that contain data.
    func usedSize() throws(DurableError) -> Int {
        let pages = try self.pagesStatement.first { $0.int(0) } ?? 0
        return try (pages - (self.freePagesStatement.first { $0.int(0) } ?? 0)) * self.pageSize
    }
}

extension StoreTables {
    /// Creates the tables if the file does not have them.
    ///
    /// - Throws: `newerSchema` if a later version of Waybill has written the file.
    static func prepare(_ database: Database) throws(DurableError) {
        let known = try database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'waybill_store'")
        if try known.first(of: { _ in true }) == nil {
            for statement in self.definitions { try database.execute(statement) }
            try database.execute(
                "INSERT INTO waybill_store (name, value) VALUES ('schema', ?), ('next', 1), ('clock', 0), ('id', ?)",
                .int(Int64(self.schema)),
                .int(.random(in: 1 ... .max))
            )
        }
        let schema = try self.value("schema", in: database) ?? 0
        guard schema <= self.schema else {
            throw DurableError(
                .newerSchema,
                message: "\(database.path) has schema \(schema), and this program reads up to schema "
                    + "\(self.schema); update Waybill"
            )
        }
    }

    static func value(_ name: String, in database: Database) throws(DurableError) -> Int? {
        try database.prepare("SELECT value FROM waybill_store WHERE name = ?").first(.text(name)) {
            $0.int(0)
        }
    }

    static func set(_ name: String, to value: Int, in database: Database) throws(DurableError) {
        try database.execute("UPDATE waybill_store SET value = ? WHERE name = ?", value.sqlValue, .text(name))
    }

    private static let definitions = [
        "CREATE TABLE waybill_store (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID",
        """
        CREATE TABLE waybill_messages (
            id INTEGER PRIMARY KEY, state INTEGER NOT NULL, url TEXT NOT NULL, lane TEXT NOT NULL,
            due INTEGER NOT NULL, sent INTEGER NOT NULL, attempts INTEGER NOT NULL,
            interruptions INTEGER NOT NULL DEFAULT 0, expires INTEGER, order_key TEXT, details TEXT, failure TEXT)
        """,
        // These two indexes are partial. A message whose attempt begins in the commit of its send is only in
        // the second index, which is small.
        "CREATE INDEX waybill_waiting ON waybill_messages (lane, due, id) WHERE state = 0",
        "CREATE INDEX waybill_begun ON waybill_messages (id) WHERE state = 1",
        "CREATE INDEX waybill_orders ON waybill_messages (order_key, id) WHERE order_key IS NOT NULL",
        "CREATE TABLE waybill_keys (key TEXT PRIMARY KEY, id INTEGER NOT NULL, expires INTEGER NOT NULL) WITHOUT ROWID",
        "CREATE INDEX waybill_expiring_keys ON waybill_keys (expires)",
        """
        CREATE TABLE waybill_dead (
            id INTEGER PRIMARY KEY, url TEXT NOT NULL, order_key TEXT, details TEXT, sent INTEGER NOT NULL,
            died INTEGER NOT NULL, attempts INTEGER NOT NULL, code TEXT NOT NULL, failure TEXT NOT NULL)
        """,
        """
        CREATE TABLE waybill_schedules (
            name TEXT PRIMARY KEY, url TEXT NOT NULL, details TEXT, rule TEXT NOT NULL, zone TEXT NOT NULL,
            misfire TEXT NOT NULL, next INTEGER NOT NULL) WITHOUT ROWID
        """,
    ]
}
#endif
