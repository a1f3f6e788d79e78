#if Durable
internal import CSQLite
internal import WaybillEventLoop
internal import WaybillRouting

/// The connection to the store's file.
///
/// A database and its statements are not `Sendable`, so only the thread of the store's engine uses them.
@safe
final class Database {
    let path: String
    private let connection: OpaquePointer
    let observer = ConnectionObserver()
    /// The compiled statements of the store, by the address of their text.
    private var statements: [UInt: Statement] = [:]

    /// Opens or creates a file; `vfs` is nil for the file system of the operating system.
    init(_ path: String, vfs: String?) throws(DurableError) {
        var handle: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        // SQLite may be built to read `file:` as a URI, whose options could switch off its locks.
        let name = path.hasPrefix("file:") ? "./\(path)" : path
        let status = unsafe sqlite3_open_v2(name, &handle, flags, vfs)
        guard status == SQLITE_OK, let connection = unsafe handle else {
            let detail = unsafe String(cString: sqlite3_errstr(status))
            unsafe sqlite3_close_v2(handle)
            throw DurableError.sqlite(status, at: path, while: "opening the file", detail: detail)
        }
        unsafe self.connection = connection
        self.path = path
        // The observer lives longer than the connection, which is closed in `deinit`.
        let context = unsafe CallbackContext.borrowing(self.observer)
        unsafe sqlite3_set_authorizer(
            connection,
            { context, action, first, second, _, _ in
                let texts = unsafe [first, second].map { unsafe $0.map { unsafe String(cString: $0) } }
                return unsafe ConnectionObserver.of(context)?.authorize(action, texts[0], texts[1])
                    ?? SQLITE_OK
            },
            context
        )
        // This hook replaces the one by which SQLite copies the write-ahead log, and which ignores failures.
        unsafe sqlite3_wal_hook(
            connection,
            { context, _, _, pages in
                let observer = unsafe ConnectionObserver.of(context)
                observer?.logPages = Int(pages)
                observer?.commits += 1
                return SQLITE_OK
            },
            context
        )
        unsafe sqlite3_progress_handler(
            connection,
            10_000,
            { context in unsafe ConnectionObserver.of(context)?.isOverdue == true ? 1 : 0 },
            context
        )
    }

    deinit {
        // The connection is closed only after its statements have been released.
        self.statements = [:]
        unsafe sqlite3_close_v2(self.connection)
    }

    /// Compiles and runs a statement, and ignores its rows.
    func execute(_ sql: String, _ values: Bindings = []) throws(DurableError) {
        try self.prepare(sql).run(values)
    }

    /// Compiles a statement; throws `invalidStatement` unless the text is exactly one allowed statement.
    func prepare(_ sql: String) throws(DurableError) -> Statement {
        func invalid(_ content: String) -> DurableError {
            let message = "the text contains \(content): \(sql.onShortLine)"
            return DurableError(.invalidStatement, message: message)
        }
        let (connection, flags) = unsafe (self.connection, UInt32(SQLITE_PREPARE_PERSISTENT))
        var found: Statement?
        var start = 0
        // The text after the statement may contain spaces, semicolons and comments.
        while start < sql.utf8.count {
            var handle: OpaquePointer?
            var length = 0
            let status = unsafe sql.withCString { text in
                var tail: UnsafePointer<CChar>?
                let status = unsafe sqlite3_prepare_v3(connection, text + start, -1, flags, &handle, &tail)
                if let tail = unsafe tail { length = unsafe tail - text - start }
                return status
            }
            let error = status == SQLITE_OK ? nil : self.error(status, while: "compiling \(sql.onShortLine)")
            let next = unsafe handle.map { unsafe Statement($0, sql: sql, database: self) }
            // Text after the first statement that cannot be compiled possibly depends on the first statement.
            if found != nil, next != nil || error?.failsBatch == false {
                throw invalid("more than one SQL statement")
            }
            if let error { throw error }
            found = found ?? next
            start += max(1, length)
        }
        guard let found else { throw invalid("no SQL statement") }
        return found
    }

    /// Returns a statement of the store, which is compiled only once and must end before it begins again.
    func statement(_ sql: StaticString) throws(DurableError) -> Statement {
        let address = unsafe UInt(bitPattern: sql.utf8Start)
        if let statement = self.statements[address] { return statement }
        let statement = try self.prepare("\(sql)")
        self.statements[address] = statement
        return statement
    }

    /// Runs a statement of the store, which is compiled only once.
    func run(_ sql: StaticString, _ values: Bindings = []) throws(DurableError) {
        try self.statement(sql).run(values)
    }

    /// Whether the file was deleted or replaced, so that its path no longer leads to the open file.
    var hasMoved: Bool {
        var hasMoved: Int32 = 0
        let control = SQLITE_FCNTL_HAS_MOVED
        let status = unsafe sqlite3_file_control(self.connection, "main", control, &hasMoved)
        return status == SQLITE_OK && hasMoved != 0
    }

    /// The number of rows that statements have changed since the file was opened.
    var totalChanges: Int { unsafe Int(sqlite3_total_changes64(self.connection)) }

    /// The number of rows that the last writing statement has changed.
    var changes: Int { unsafe Int(sqlite3_changes64(self.connection)) }

    /// Whether a transaction is open; after some failures, SQLite ends a transaction itself.
    var isInTransaction: Bool { unsafe sqlite3_get_autocommit(self.connection) == 0 }

    /// Runs code of the program, whose statements may neither end the transaction nor change store tables.
    ///
    /// After the limit, a running statement is interrupted, and no further statement can be compiled.
    func withProgramAccess<Result>(limit: Duration, _ body: () throws -> Result) rethrows -> Result {
        self.observer.isProgram = true
        self.observer.deadline = .now + limit
        defer {
            self.observer.isProgram = false
            self.observer.deadline = nil
            // A program that prepares statements through the connection has received the refusal itself.
            self.observer.denial = nil
        }
        return try body()
    }

    /// Runs code of the store within ``withProgramAccess(limit:_:)``, but without the restrictions.
    func withStoreAccess<Result>(_ body: () throws -> Result) rethrows -> Result {
        let outer = self.observer.isProgram
        self.observer.isProgram = false
        defer { self.observer.isProgram = outer }
        return try body()
    }

    /// Copies the log into the file, synchronizes the file, and returns the number of pages in the log.
    func checkpoint() throws(DurableError) -> Int {
        var pages: CInt = 0
        let mode = SQLITE_CHECKPOINT_PASSIVE
        let status = unsafe sqlite3_wal_checkpoint_v2(self.connection, nil, mode, &pages, nil)
        guard status == SQLITE_OK else { throw self.error(status, while: "copying the log into the file") }
        self.observer.logPages = 0
        return Int(pages)
    }

    /// Calls a closure with the connection of SQLite.
    @unsafe
    func withConnection<Result>(_ body: (OpaquePointer) throws -> Result) rethrows -> Result {
        try unsafe body(self.connection)
    }

    func error(_ status: CInt, while action: String) -> DurableError {
        if status & 0xFF == SQLITE_AUTH, let denial = self.observer.denial.take() {
            let code: DurableError.Code = self.observer.isOverdue ? .statementFailed : .invalidStatement
            return DurableError(code, message: "\(denial): \(action)")
        }
        let detail = unsafe String(cString: sqlite3_errmsg(self.connection))
        let error = DurableError.sqlite(status, at: self.path, while: action, detail: detail)
        // A table of the program can be full although the disk is not. If the disk is full, the store's own
        // statements of the batch fail too.
        let isProgram = self.observer.isProgram && error.code == .diskFull
        if error.failsBatch, !isProgram { self.observer.failure = error }
        return error
    }
}

/// The state that the callbacks of a connection read and write.
final class ConnectionObserver {
    /// Whether the statements that SQLite compiles come from the program, so that they are restricted.
    var isProgram = false
    /// The time after which a statement of the program is interrupted; nil for no limit.
    var deadline: ContinuousClock.Instant?
    /// The last failure that concerns the whole transaction.
    var failure: DurableError?
    /// The number of pages in the write-ahead log after the last commit.
    var logPages = 0
    /// The number of commits that have written something.
    var commits = 0
    /// The reason why a statement of the program was rejected.
    var denial: String?

    /// Returns the observer, which lives longer than the connection, from the context of a callback.
    static func of(_ context: UnsafeMutableRawPointer?) -> ConnectionObserver? {
        unsafe context.map { unsafe CallbackContext.object(of: $0) }
    }

    /// Rejects statements of the program that would damage the store.
    func authorize(_ action: CInt, _ first: String?, _ second: String?) -> CInt {
        guard self.isProgram else { return SQLITE_OK }
        // The progress handler interrupts only a statement that is long, or that runs again and again.
        if self.isOverdue {
            self.denial = "the transaction took longer than its limit"
            return SQLITE_DENY
        }
        switch action {
        case SQLITE_READ, SQLITE_SELECT, SQLITE_FUNCTION, SQLITE_RECURSIVE, SQLITE_ANALYZE:
            return SQLITE_OK
        case SQLITE_TRANSACTION, SQLITE_SAVEPOINT:
            self.denial = "the store begins and ends the transaction, so remove this statement"
        case SQLITE_ALTER_TABLE where first == "temp":
            // SQLite does not tell the new name, which possibly hides a table of the store.
            self.denial = "a transaction of the store cannot alter a temporary table"
        case SQLITE_ATTACH, SQLITE_DETACH:
            self.denial = "a transaction of the store cannot attach or detach a database"
        case SQLITE_PRAGMA:
            // A pragma without an argument only reads.
            if second == nil || Self.harmlessPragmas.contains(first?.lowercased() ?? "") { return SQLITE_OK }
            self.denial = "a transaction of the store cannot change settings of SQLite"
        default:
            // For an update, the second text is the name of a column, and not of a table.
            let names = action == SQLITE_UPDATE ? [first] : [first, second]
            guard names.contains(where: { $0?.lowercased().hasPrefix("waybill_") == true }) else {
                return SQLITE_OK
            }
            self.denial = "tables with the prefix waybill_ belong to the store and can only be read"
        }
        return SQLITE_DENY
    }

    /// The pragmas that only read the schema or set values of the program, even with an argument.
    private static let harmlessPragmas: Set<String> = [
        "table_info", "table_xinfo", "index_list", "index_info", "index_xinfo", "foreign_key_list",
        "foreign_key_check", "integrity_check", "quick_check", "user_version", "application_id",
    ]

    /// Whether code of the program runs and its deadline has passed.
    var isOverdue: Bool { self.deadline.map { $0 < .now } ?? false }
}

extension DurableError {
    /// Creates the error for a result code of SQLite.
    static func sqlite(_ status: CInt, at path: String, while action: String, detail: String) -> DurableError
    {
        let (code, remedy): (Code, String) =
            switch status & 0xFF {
            case SQLITE_NOTADB: (.notADatabase, "the file is not an SQLite database; choose another path")
            case SQLITE_BUSY: (.inUse, "another program has opened the file; stop that program first")
            case SQLITE_LOCKED:
                (.statementFailed, "a transaction cannot run this statement; remove the statement")
            case SQLITE_AUTH: (.invalidStatement, "correct the SQL statement")
            case SQLITE_INTERRUPT: (.statementFailed, "the transaction took too long; make it shorter")
            case SQLITE_READONLY, SQLITE_PERM:
                (.readOnly, "the file or its folder cannot be written; change the permissions")
            case SQLITE_CANTOPEN:
                (.unavailable, "the file cannot be opened; check that its folder exists and can be written")
            case SQLITE_FULL: (.diskFull, "the disk is full; free some space")
            case SQLITE_IOERR: (.inputOutput, "the system could not read or write the file; check the disk")
            // SQLITE_CORRUPT_VTAB, for a damaged virtual table, concerns only the statement.
            case SQLITE_CORRUPT where status != SQLITE_CORRUPT | 1 << 8:
                (.corrupt, "the file is damaged; restore a backup, or export what can be read")
            case SQLITE_ERROR: (.invalidStatement, "correct the SQL statement")
            default: (.statementFailed, "the transaction is rolled back")
            }
        let message = "\(path): \(action) failed with \"\(detail)\" (\(status)); \(remedy)"
        return DurableError(code, message: message)
    }

    /// Whether the state of the file is uncertain, so that the store must stop.
    var isFatal: Bool {
        [.inputOutput, .corrupt, .notADatabase, .readOnly, .unavailable].contains(self.code)
    }

    /// Whether the whole batch of the engine fails, and not only one statement.
    var failsBatch: Bool { self.isFatal || self.code == .diskFull }
}
#endif
