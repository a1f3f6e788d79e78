internal import FoundationEssentials
internal import WaybillRouting

extension JSONText: EncodedValue {
    package var size: Int { self.range.count }

    /// Decodes the text as the type that the reader needs.
    ///
    /// Foundation's decoder decodes `Decodable` types. Dates are in the format of ISO 8601, and `Data` is
    /// Base64.
    package func decoded<Value>(as type: Value.Type) throws -> Value? {
        if let value = self.simple(as: type) { return value }
        if Value.self == Void.self { return self.isNull ? () as? Value : nil }
        if let value = self.container(as: type) { return value }
        guard let decodable = type as? any Decodable.Type else { return nil }
        return try self.decode(decodable) as? Value
    }

    /// The value with types of the standard library.
    ///
    /// These types are `()`, `Bool`, `Int`, `Double`, `String`, and arrays and dictionaries of them. If
    /// several members of an object have the same name, the first of them counts, as in ``decoded(as:)``.
    /// Otherwise a check of this value could accept another value than the one that a handler decodes.
    package var plain: any Sendable {
        switch self.shape {
        case .null: return ()
        case .bool: return self.bool == true
        case .number: return self.number
        case .string: return self.string ?? ""
        case .array: return (self.elements ?? []).map(\.plain)
        case .object:
            return Dictionary((self.members ?? []).map { ($0.name, $0.value.plain) }) { first, _ in first }
        }
    }

    package var text: String {
        self.shape == .number
            ? String(decoding: self.slice, as: UTF8.self) : String(describing: self.plain)
    }

    package var kind: String {
        if let type = self.notedType { return type }
        let kind = "JSON \(self.shape.rawValue)"
        return self.shape == .number
            ? "\(kind) \(String(decoding: self.slice, as: UTF8.self).onShortLine)" : kind
    }

    /// The value of a number: an `Int` if it fits, and otherwise a `Double`, which may be infinite.
    private var number: any Sendable {
        if let int = self.int { return int }
        return self.double ?? .infinity
    }

    /// Returns the value as one of the types that need no decoder.
    ///
    /// Returns nil for other types, and if the value is of a different kind.
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
    /// The value as a parameter of a message.
    ///
    /// Text, `Int`, `Bool` and nil are decoded. Arrays and objects stay JSON, because only the reader knows
    /// their type. Other numbers (`1.5`, `7.0`, `1e3`, 20 digits) also stay JSON, because the reader possibly
    /// needs a `Decimal` or a `Float`.
    package var parameter: any Sendable {
        switch self.shape {
        case .null: return Optional<any Sendable>.none
        case .array, .object: return self
        case .bool: return self.bool == true
        case .string: return self.string ?? ""
        case .number:
            if let int = self.int { return int }
            return self
        }
    }

    /// Validates an object and returns its members as parameters of a message.
    package static func parameters(of bytes: [UInt8]) throws(JSONError) -> [String: any Sendable] {
        guard let parameters = try JSONText(validating: bytes).parameters else { throw .notObject }
        return parameters
    }

    /// The members of an object as parameters of a message; nil for any other value.
    ///
    /// If several members have the same name, the result contains the first of them, as in ``plain``.
    package var parameters: [String: any Sendable]? {
        guard self.shape == .object else { return nil }
        var parameters: [String: any Sendable] = [:]
        self.forEachMember { member in
            let name = self[member.name].string ?? ""
            if parameters[name] == nil { parameters[name] = self[member.value].keptParameter }
        }
        return parameters
    }
}

extension JSONText {
    /// The value for a reader that stores it.
    ///
    /// If the value is a small part of a large text, it is copied, so that the large text can be freed.
    package var kept: JSONText {
        let size = self.bytes.capacity
        if size <= Self.smallSize || self.range.count * 2 > size { return self }
        // Include the type note after the value.
        return JSONText(bytes: Array(self.slice + self.typeNote), range: 0..<self.range.count)
    }

    private static let smallSize = 1024

    /// The value as a parameter that a reader stores, with the rules of ``parameter``.
    package var keptParameter: any Sendable {
        let value = self.parameter
        return (value as? JSONText)?.kept ?? value
    }
}

extension JSONNode {
    /// The value for a reader that stores it.
    ///
    /// If the value is a small part of a large text, it is copied, so that the large text can be freed.
    package var kept: JSONText { self.text.kept }

    /// The value as a parameter of a message, with the rules of ``JSONText/parameter``.
    package var parameter: any Sendable {
        if let string { return string }
        return self.text.keptParameter
    }
}
