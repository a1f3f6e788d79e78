#if Durable
/// The statements on the store's tables, whose names begin with `waybill_`; a program may add other tables.
struct StoreTables {
    static let schema = 1
    let database: Database

    func statement(_ sql: StaticString) throws(DurableError) -> Statement {
        try self.database.statement(sql)
    }

    /// Runs a statement that begins or ends a transaction or a savepoint.
    func run(_ sql: StaticString) throws(DurableError) { try self.statement(sql).run() }

    func insert(
        _ message: NewMessage,
        as state: DurableRecord.State,
        id: Int,
        at now: Int
    ) throws(DurableError) {
        try self.statement(
            """
            INSERT INTO waybill_messages
            (id, state, url, lane, due, sent, attempts, expires, order_key, details) VALUES (?,?,?,?,?,?,?,?,?,?)
            """
        ).run(
            id,
            state.number,
            message.url,
            message.lane,
            StoreClock.adding(message.delay, to: now),
            now,
            state == .underway ? 1 : 0,
            message.lifetime.map { StoreClock.adding($0, to: now) },
            message.order,
            message.details
        )
    }

    /// Deletes a message if its attempt is still underway, and returns whether it was.
    func delete(_ id: Int, attempt: Int) throws(DurableError) -> Bool {
        try self.statement("DELETE FROM waybill_messages WHERE id = ? AND state = 1 AND attempts = ?")
            .run(id, attempt)
        return self.database.changes == 1
    }

    func move(_ id: Int, to lane: String) throws(DurableError) {
        try self.statement("UPDATE waybill_messages SET lane = ? WHERE id = ?")
            .run(lane, id)
    }

    func begin(_ id: Int, attempt: Int) throws(DurableError) {
        try self.statement("UPDATE waybill_messages SET state = 1, attempts = ? WHERE id = ?")
            .run(attempt, id)
    }

    /// Ends an attempt, so that the message waits for the next; false if the attempt was already over.
    func retry(
        _ message: BegunMessage,
        in lane: String,
        at due: Int,
        attempts: Int,
        failure: String?
    ) throws(DurableError) -> Bool {
        try self.statement(
            """
            UPDATE waybill_messages SET state = 0, lane = ?, due = ?, attempts = ?,
            failure = coalesce(?, failure), interruptions = 0
            WHERE id = ? AND state = 1 AND attempts = ?
            """
        ).run(lane, due, attempts, failure, message.id, message.attempts)
        return self.database.changes == 1
    }

    /// Makes the messages ready again whose attempts are underway, because the store is closed.
    ///
    /// These attempts do not count. A message with a single attempt stays underway, because its handler has
    /// possibly begun, and the next process makes the message a dead letter.
    func releaseAll(by policies: DurablePolicies) throws(DurableError) {
        let underway = try self.statement("SELECT id, url FROM waybill_messages WHERE state = 1")
            .rows { (id: $0.int(0), url: $0.text(1) ?? "") }
        let update = try self.statement(
            "UPDATE waybill_messages SET state = 0, attempts = attempts - 1 WHERE id = ?"
        )
        for message in underway where policies.policy(of: message.url).attempts > 1 {
            try update.run(message.id)
        }
    }

    /// Copies a message whose attempt is underway to the table of dead letters.
    func bury(_ message: BegunMessage, code: String, failure: String, at now: Int) throws(DurableError) {
        try self.statement(
            """
            INSERT INTO waybill_dead (id, url, order_key, details, sent, died, attempts, code, failure)
            SELECT id, url, order_key, details, sent, ?, attempts, ?, ? FROM waybill_messages
            WHERE id = ? AND state = 1 AND attempts = ?
            """
        ).run(now, code, failure, message.id, message.attempts)
    }

    /// Makes the first remaining message with an order key ready, after the previous message was completed or
    /// became a dead letter, and returns its lane; nil if no other message has the key.
    func follow(_ order: String) throws(DurableError) -> String? {
        try self.statement(
            """
            UPDATE waybill_messages SET state = 0 WHERE state = 2 AND id =
            (SELECT min(id) FROM waybill_messages WHERE order_key = ?) RETURNING lane
            """
        ).first(order) { $0.text(0) }
    }

    func hasMessage(inOrder order: String) throws(DurableError) -> Bool {
        try self.statement("SELECT 1 FROM waybill_messages WHERE order_key = ? LIMIT 1")
            .first(order) { _ in true } ?? false
    }

    /// Returns the number of the message with a key; nil if no message has it, or if the key has expired.
    func message(withKey key: String, at now: Int) throws(DurableError) -> Int? {
        try self.statement("SELECT id FROM waybill_keys WHERE key = ? AND expires > ?")
            .first(key, now) { $0.int(0) }
    }

    /// Keeps the key of a message until a given time, and deletes at most two expired keys.
    func keep(_ key: String, of id: Int, until expiry: Int, at now: Int) throws(DurableError) {
        try self.statement("INSERT OR REPLACE INTO waybill_keys (key, id, expires) VALUES (?,?,?)")
            .run(key, id, expiry)
        try self.dropKeys(at: now, limit: 2)
    }

    /// Deletes expired keys, at most `limit`.
    func dropKeys(at now: Int, limit: Int) throws(DurableError) {
        try self.statement(
            """
            DELETE FROM waybill_keys WHERE key IN
            (SELECT key FROM waybill_keys WHERE expires <= ? ORDER BY expires LIMIT ?)
            """
        ).run(now, limit)
    }

    /// Returns the due messages of a lane, with numbers of attempts that include the attempt about to begin.
    func dueMessages(of lane: String, at now: Int, limit: Int) throws(DurableError) -> [BegunMessage] {
        let select = try self.statement(
            """
            SELECT id, url, lane, order_key, details, attempts + 1, expires, sent FROM waybill_messages
            WHERE lane = ? AND state = 0 AND due <= ? ORDER BY due, id LIMIT ?
            """
        )
        return try select.rows([lane, now, limit]) { BegunMessage($0) }
    }

    /// Returns the time at which the first waiting message of a lane is due; nil if no message waits.
    ///
    /// SQLite orders texts after numbers, so a time that is not a number is not the first one.
    func nextDue(of lane: String) throws(DurableError) -> Int? {
        try self.statement("SELECT min(due) FROM waybill_messages WHERE lane = ? AND state = 0")
            .first(lane) { $0.optionalAmount(0) }
    }

    /// The number of bytes of the file that contain data.
    func usedSize() throws(DurableError) -> Int {
        func number(_ sql: StaticString) throws(DurableError) -> Int {
            try self.statement(sql).first { $0.int(0) } ?? 0
        }
        let pages = try number("PRAGMA page_count") - number("PRAGMA freelist_count")
        return try pages * number("PRAGMA page_size")
    }
}

extension StoreTables {
    /// Returns whether a file has the tables of a store.
    func exist() throws(DurableError) -> Bool {
        try self.database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'waybill_store'")
            .first { _ in true } ?? false
    }

    /// Creates the tables if the file does not have them, and rejects the tables of a later Waybill.
    func create() throws(DurableError) {
        if try !self.exist() {
            for statement in Self.definitions { try self.database.execute(statement) }
            try self.database.execute(
                "INSERT INTO waybill_store (name, value) VALUES ('schema', ?), ('next', 1), ('clock', 0), ('id', ?)",
                Self.schema,
                Int.random(in: 1 ... .max)
            )
        }
        let schema = try self.value("schema") ?? 0
        guard schema <= Self.schema else {
            throw DurableError(
                .newerSchema,
                message: "\(self.database.path) has schema \(schema), and this program reads up to schema "
                    + "\(Self.schema); update Waybill"
            )
        }
    }

    /// Returns a value of the store; nil if the file does not have it.
    func value(_ name: String, read: (Statement) -> Int = { $0.amount(0) }) throws(DurableError) -> Int? {
        try self.database.prepare("SELECT value FROM waybill_store WHERE name = ?").first(name, of: read)
    }

    /// Returns a time that the store's clock had reached when the file was last open.
    ///
    /// The clock is written when the store is closed. If the process was killed, the last message has a later
    /// time.
    func lastTime() throws(DurableError) -> Int {
        let sent =
            try self.database.prepare("SELECT sent FROM waybill_messages ORDER BY id DESC LIMIT 1")
            .first { $0.amount(0) } ?? 0
        return max(sent, try self.value("clock") ?? 0)
    }

    func set(_ name: String, to value: Int) throws(DurableError) {
        try self.database.execute("UPDATE waybill_store SET value = ? WHERE name = ?", value, name)
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
