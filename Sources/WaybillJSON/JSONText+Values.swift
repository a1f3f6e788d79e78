internal import FoundationEssentials
internal import WaybillRouting

extension JSONText: EncodedValue {
    /// Decodes the text as the type that its reader needs.
    ///
    /// A `Decodable` type is decoded with Foundation's decoder: dates are ISO 8601, data is Base64.
    package func decoded<Value>(as type: Value.Type) throws -> Value? {
        if let value = self.simple(as: type) { return value }
        if Value.self == Void.self { return self.isNull ? () as? Value : nil }
        if let value = self.container(as: type) { return value }
        guard let decodable = type as? any Decodable.Type else { return nil }
        return try self.decode(decodable) as? Value
    }

    /// The value without a type of the program: `()`, `Bool`, `Int`, `Double`, `String`, arrays and
    /// dictionaries of these.
    package var plain: any Sendable {
        switch self.shape {
        case .null: return ()
        case .bool: return self.bool == true
        case .number: return self.number
        case .string: return self.string ?? ""
        case .array: return (self.elements ?? []).map(\.plain)
        case .object:
            return Dictionary((self.members ?? []).map { ($0.name, $0.value.plain) }) { _, last in last }
        }
    }

    package var kind: String { self.notedType ?? "JSON \(self.shape.rawValue)" }

    /// A whole number as an `Int` if it is one, and as a `Double` else, which may be infinite.
    private var number: any Sendable {
        if let int = self.int { return int }
        return self.double ?? .infinity
    }

    /// The types that need no decoder; nil for another type, and for another value.
    private func simple<Value>(as type: Value.Type) -> Value? {
        if Value.self == JSONText.self { return self as? Value }
        if Value.self == String.self { return self.string as? Value }
        if Value.self == Int.self { return self.int as? Value }
        if Value.self == Bool.self { return self.bool as? Value }
        if Value.self == Double.self { return self.double as? Value }
        return nil
    }

    private func container<Value>(as type: Value.Type) -> Value? {
        if Value.self == [any Sendable].self || Value.self == [String: any Sendable].self {
            return self.plain as? Value
        }
        return nil
    }

    private func decode<Value: Decodable>(_ type: Value.Type) throws -> Any {
        try JSONCoding.decoder.decode(type, from: Data(self.slice))
    }
}

extension JSONText {
    /// The value as a parameter of a message: text, `Int`, `Double`, `Bool` and nil as they are; arrays,
    /// objects and whole numbers that are no `Int` as they are spelled (`7.0`, `1e3`, 20 digits) stay JSON,
    /// for a reader that has a type for them.
    package var parameter: any Sendable {
        switch self.shape {
        case .null: return Optional<any Sendable>.none
        case .array, .object: return self
        case .bool: return self.bool == true
        case .string: return self.string ?? ""
        case .number:
            if let int = self.int { return int }
            guard let double = self.double, double != double.rounded(.towardZero) else { return self }
            return double
        }
    }

    /// The members of an object from outside as the parameters of a message.
    package static func parameters(of bytes: [UInt8]) throws(JSONError) -> [String: any Sendable] {
        guard let parameters = try JSONText(validating: bytes).parameters else { throw .notObject }
        return parameters
    }

    /// The members of an object as the parameters of a message, of two of one name the last; nil for any
    /// other value.
    package var parameters: [String: any Sendable]? {
        guard self.shape == .object else { return nil }
        var parameters: [String: any Sendable] = [:]
        self.forEachMember { parameters[self[$0.name].string ?? ""] = self[$0.value].parameter }
        return parameters
    }
}

extension JSONNode {
    /// The value for who may keep it for long: a small part of a large text has memory of its own.
    package var kept: JSONText {
        let text = self.text
        let size = text.bytes.capacity
        if size <= Self.smallSize || text.range.count * 2 > size { return text }
        // With the type that stands behind it.
        return JSONText(bytes: Array(text.slice + text.typeNote), range: 0..<text.range.count)
    }

    private static let smallSize = 1024

    /// The value as a parameter of a message, as ``JSONText/parameter`` is.
    package var parameter: any Sendable {
        if let string { return string }
        let value = self.text.parameter
        return value is JSONText ? self.kept : value
    }
}
