#if Durable
/// A value of a column or of a parameter in an SQL statement.
public enum SQLValue: Sendable, Hashable {
    case null
    case int(Int64)
    case double(Double)
    case text(String)
    case bytes([UInt8])

    /// The whole number; nil for a value of another kind.
    public var int: Int? { if case .int(let value) = self { Int(value) } else { nil } }

    /// The number, also a whole number, as a `Double`; nil for a value of another kind.
    public var double: Double? {
        if case .double(let value) = self { value } else { self.int.map(Double.init) }
    }

    /// The text; nil for a value of another kind.
    public var text: String? { if case .text(let value) = self { value } else { nil } }

    /// The bytes of a blob; nil for a value of another kind.
    public var bytes: [UInt8]? { if case .bytes(let value) = self { value } else { nil } }
}

/// A type whose values can be parameters of an SQL statement.
public protocol SQLBindable {
    /// The value that the statement receives.
    var sqlValue: SQLValue { get }
}

extension SQLValue: SQLBindable {
    /// The value that the statement receives.
    public var sqlValue: SQLValue { self }
}

extension Int: SQLBindable {
    /// The value that the statement receives.
    public var sqlValue: SQLValue { .int(Int64(self)) }
}

extension Int64: SQLBindable {
    /// The value that the statement receives.
    public var sqlValue: SQLValue { .int(self) }
}

extension Double: SQLBindable {
    /// The value that the statement receives.
    public var sqlValue: SQLValue { .double(self) }
}

extension Bool: SQLBindable {
    /// The value that the statement receives.
    public var sqlValue: SQLValue { .int(self ? 1 : 0) }
}

extension String: SQLBindable {
    /// The value that the statement receives.
    public var sqlValue: SQLValue { .text(self) }
}

extension [UInt8]: SQLBindable {
    /// The value that the statement receives.
    public var sqlValue: SQLValue { .bytes(self) }
}

extension Optional: SQLBindable where Wrapped: SQLBindable {
    /// The value that the statement receives.
    public var sqlValue: SQLValue { self?.sqlValue ?? .null }
}

/// A row of the result of a query.
public struct SQLRow: Sendable {
    /// The names of the columns, in the order of the statement.
    public let columns: [String]
    /// The values of the columns, in the order of ``columns``.
    public let values: [SQLValue]

    /// The value of the column with a given name; nil if the result has no such column.
    public subscript(column: String) -> SQLValue? {
        self.columns.firstIndex(of: column).map { self.values[$0] }
    }
}
#endif
