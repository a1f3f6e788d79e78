#if Durable
internal import CSQLite
internal import WaybillRouting

/// The values of a statement's parameters, in the order of the question marks.
typealias Bindings = [any SQLBindable]

/// A compiled SQL statement, which can run many times.
@safe
final class Statement {
    private let handle: OpaquePointer
    private let sql: String
    private unowned let database: Database

    init(_ handle: OpaquePointer, sql: String, database: Database) {
        unsafe self.handle = handle
        self.sql = sql
        self.database = database
    }

    deinit { unsafe sqlite3_finalize(self.handle) }

    /// Runs the statement to its end, and ignores its rows.
    func run(_ values: Bindings = []) throws(DurableError) {
        try self.forEachRow(values) { () throws(DurableError) in }
    }

    /// Runs the statement, and returns the value that a closure reads from the first row; nil without a row.
    func first<Value>(_ values: Bindings = [], _ read: (Statement) -> Value?) throws(DurableError) -> Value? {
        defer { self.reset() }
        try self.bind(values)
        return try self.step() ? read(self) : nil
    }

    /// Runs the statement, and returns the value that a closure reads from each row.
    func rows<Value>(_ values: Bindings = [], _ read: (Statement) -> Value) throws(DurableError) -> [Value] {
        var rows: [Value] = []
        try self.forEachRow(values) { () throws(DurableError) in rows.append(read(self)) }
        return rows
    }

    /// Runs the statement, and calls a closure for each row until a condition is false.
    func forEachRow(
        _ values: Bindings = [],
        while isContinued: @autoclosure () -> Bool = true,
        _ body: () throws(DurableError) -> Void
    ) throws(DurableError) {
        defer { self.reset() }
        try self.bind(values)
        while isContinued(), try self.step() { try body() }
    }

    /// Ends the run; SQLite returns the failure of the last step again, which has already been reported.
    private func reset() { unsafe sqlite3_reset(self.handle) }

    private func step() throws(DurableError) -> Bool {
        switch unsafe sqlite3_step(self.handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let status: throw self.database.error(status, while: self.sql.onShortLine)
        }
    }

    private func bind(_ values: Bindings) throws(DurableError) {
        let count = unsafe Int(sqlite3_bind_parameter_count(self.handle))
        guard count == values.count else {
            let counts = "has \(count) parameters, but the call passes \(values.count) values"
            throw DurableError(.invalidStatement, message: "the statement \(counts): \(self.sql.onShortLine)")
        }
        for (index, value) in values.enumerated() {
            let status = self.bind(value.sqlValue, to: CInt(index + 1))
            guard status == SQLITE_OK else { throw self.database.error(status, while: self.sql.onShortLine) }
        }
    }

    private func bind(_ value: SQLValue, to index: CInt) -> CInt {
        // SQLite copies text and bytes before the call returns.
        let copied = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        switch value {
        case .null: return unsafe sqlite3_bind_null(self.handle, index)
        case .int(let value): return unsafe sqlite3_bind_int64(self.handle, index, value)
        case .double(let value): return unsafe sqlite3_bind_double(self.handle, index, value)
        case .text(let text):
            // Pass the length, because a text may contain zero bytes.
            let length = UInt64(text.utf8.count)
            return unsafe text.withCString { text in
                unsafe sqlite3_bind_text64(self.handle, index, text, length, copied, UInt8(SQLITE_UTF8))
            }
        case .bytes(let bytes):
            // Swift passes an address for an empty array too. SQLite would treat a null pointer as NULL.
            return unsafe sqlite3_bind_blob64(self.handle, index, bytes, UInt64(bytes.count), copied)
        }
    }

    /// Reads a column of the current row.
    func int(_ column: CInt) -> Int { unsafe Int(sqlite3_column_int64(self.handle, column)) }

    func text(_ column: CInt) -> String? {
        guard let start = unsafe sqlite3_column_text(self.handle, column) else { return nil }
        let count = unsafe Int(sqlite3_column_bytes(self.handle, column))
        return unsafe String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    /// The limit of times and counts that are read from the file.
    static let largestAmount = 1 << 52

    /// The time or count in a column; nil if the value is not a number.
    ///
    /// Another program may have written any value, and the limit prevents an overflow in sums.
    func optionalAmount(_ column: CInt) -> Int? {
        let type = unsafe sqlite3_column_type(self.handle, column)
        guard type == SQLITE_INTEGER || type == SQLITE_FLOAT else { return nil }
        return min(max(-Self.largestAmount, self.int(column)), Self.largestAmount)
    }

    /// The time or count in a column, with the same limit; 0 if the value is not a number.
    func amount(_ column: CInt) -> Int { self.optionalAmount(column) ?? 0 }

    /// Runs the statement, and returns its rows with the names of their columns.
    func table(_ values: Bindings) throws(DurableError) -> [SQLRow] {
        let columns = unsafe 0..<sqlite3_column_count(self.handle)
        let names = columns.map { column in
            unsafe sqlite3_column_name(self.handle, column).map { unsafe String(cString: $0) } ?? ""
        }
        return try self.rows(values) { row in SQLRow(columns: names, values: columns.map(row.value)) }
    }

    private func value(_ column: CInt) -> SQLValue {
        switch unsafe sqlite3_column_type(self.handle, column) {
        case SQLITE_INTEGER: return .int(unsafe sqlite3_column_int64(self.handle, column))
        case SQLITE_FLOAT: return .double(unsafe sqlite3_column_double(self.handle, column))
        case SQLITE_TEXT: return .text(self.text(column) ?? "")
        case SQLITE_BLOB:
            let count = unsafe Int(sqlite3_column_bytes(self.handle, column))
            guard let start = unsafe sqlite3_column_blob(self.handle, column) else { return .bytes([]) }
            return .bytes(unsafe Array(UnsafeRawBufferPointer(start: start, count: count)))
        default: return .null
        }
    }
}
#endif
