#if Durable
// The store's tables, whose names begin with `waybill_`; a program may add other tables.
extension Database {
    static let schema = 1

    /// Returns whether the file has the tables of a store.
    func hasTables() throws(DurableError) -> Bool {
        try self.prepare("SELECT 1 FROM sqlite_master WHERE name = 'waybill_store'").first { _ in true }
            ?? false
    }

    /// Creates the tables if the file does not have them, and rejects the tables of a later Waybill.
    func createTables() throws(DurableError) {
        if try !self.hasTables() {
            for statement in Self.definitions { try self.execute(statement) }
            try self.execute(
                "INSERT INTO waybill_store (name, value) VALUES ('schema', ?), ('next', 1), ('clock', 0), ('id', ?)",
                [Self.schema, Int.random(in: 1 ... .max)]
            )
        }
        let schema = try self.value("schema") ?? 0
        if schema <= Self.schema { return }
        let message =
            "\(self.path) has schema \(schema), and this program reads up to schema \(Self.schema); "
            + "update Waybill"
        throw DurableError(.newerSchema, message: message)
    }

    /// Returns a value of the store; nil if the file does not have it.
    func value(_ name: String, read: (Statement) -> Int = { $0.amount(0) }) throws(DurableError) -> Int? {
        try self.prepare("SELECT value FROM waybill_store WHERE name = ?").first([name], read)
    }

    func set(_ name: String, to value: Int) throws(DurableError) {
        try self.execute("UPDATE waybill_store SET value = ? WHERE name = ?", [value, name])
    }

    /// Returns a time that the store's clock had reached when the file was last open.
    func lastTime() throws(DurableError) -> Int {
        // The clock is written when the store is closed. After a kill, the last message has a later time.
        let select = try self.prepare("SELECT sent FROM waybill_messages ORDER BY id DESC LIMIT 1")
        let time = max(try select.first { $0.amount(0) } ?? 0, try self.value("clock") ?? 0)
        // The clock of an edited file must not have reached the largest time of a message.
        return min(time, Statement.largestAmount / 2)
    }

    /// Returns the time at which the first waiting message of a lane is due; nil if no message waits.
    func nextDue(of lane: String) throws(DurableError) -> Int? {
        // SQLite orders texts after numbers, so a time that is not a number is not the first one.
        try self.statement("SELECT min(due) FROM waybill_messages WHERE lane = ? AND state = 0")
            .first([lane]) { $0.optionalAmount(0) }
    }

    /// The number of bytes of the file that contain data.
    func usedSize() throws(DurableError) -> Int {
        func number(_ sql: StaticString) throws(DurableError) -> Int {
            try self.statement(sql).first { $0.int(0) } ?? 0
        }
        let pages = try number("PRAGMA page_count") - number("PRAGMA freelist_count")
        return try pages * number("PRAGMA page_size")
    }

    /// Returns the problems of the file, each on one line.
    func problems() throws(DurableError) -> [String] {
        let problems = try self.prepare("PRAGMA integrity_check").rows { $0.text(0) ?? "" }
        let times = try self.prepare(
            """
            SELECT 'the message ' || id || ' has a time that is not a number' FROM waybill_messages
            WHERE typeof(due) NOT IN ('integer', 'real')
            UNION ALL SELECT 'the schedule ' || name || ' has a time that is not a number'
            FROM waybill_schedules WHERE typeof(next) NOT IN ('integer', 'real')
            """
        )
        return try (problems + times.rows { $0.text(0) ?? "" }).filter { $0 != "ok" }
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
