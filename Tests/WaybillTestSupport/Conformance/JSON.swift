/// A JSON value of any type, because the recorded cases differ from file to file.
package enum JSON: Decodable, Hashable, Sendable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([JSON])
    case object([String: JSON])

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([JSON].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSON].self))
        }
    }

    package subscript(key: String) -> JSON? { self.object[key] }

    package var isNull: Bool { self == .null }
    package var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    package var string: String? { if case .string(let value) = self { value } else { nil } }
    package var array: [JSON] { if case .array(let value) = self { value } else { [] } }
    package var object: [String: JSON] { if case .object(let value) = self { value } else { [:] } }
    package var strings: [String] { self.array.compactMap(\.string) }
}

extension JSON {
    /// A text, or null for nil.
    package init(_ text: String?) { self = text.map { .string($0) } ?? .null }

    /// An object with texts.
    package init(_ texts: [String: String]) { self = .object(texts.mapValues { .string($0) }) }

    /// Creates the JSON form of a value from a caller.
    ///
    /// - Parameter value: A text, a number, a Boolean, or an array of them. Any other value is described as
    ///   text.
    package init(value: any Sendable) {
        switch value {
        case let value as Bool: self = .bool(value)
        case let value as Int: self = .number(Double(value))
        case let value as Double: self = .number(value)
        case let value as String: self = .string(value)
        case let values as [any Sendable]: self = .array(values.map { Self(value: $0) })
        default: self = .string("\(value)")
        }
    }

    /// The value for a caller, or nil for null and for an object.
    package var passed: (any Sendable)? {
        switch self {
        case .null, .object: nil
        case .bool(let value): value
        case .number(let value): Int(exactly: value) ?? value
        case .string(let value): value
        case .array(let values): values.compactMap(\.passed)
        }
    }
}

extension JSON: CustomStringConvertible {
    /// The value, with the members of an object in the order of their names.
    package var description: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .number(let value): "\(value)"
        case .string(let value): "\"\(value)\""
        case .array(let values): "\(values)"
        case .object(let values):
            "{\(values.sorted { $0.key < $1.key }.map { "\($0): \($1)" }.joined(separator: ", "))}"
        }
    }
}
