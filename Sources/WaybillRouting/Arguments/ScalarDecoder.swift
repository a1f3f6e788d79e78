/// A type whose text only this protocol can read, because its `init(from:)` accepts a scalar only from a
/// decoder of the type's own library.
///
/// Foundation has such types, but this module does not import Foundation.
package protocol ScalarText {
    /// Creates the value that a text represents, or returns nil when the text represents no value.
    init?(scalarText: String)
}

/// Decodes a single scalar, which is text, a number or a Boolean, as a `Decodable` type.
///
/// The scalar is text when it comes from a URL, and a JSON value when a peer passed it.
struct ScalarDecoder: Decoder, SingleValueDecodingContainer {
    let value: Any
    /// The error to throw when the type needs more than one scalar, or a scalar of another kind.
    let mismatch: any Error
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    /// Returns a value of a type that can be decoded from a single scalar.
    ///
    /// Returns nil when the type needs more than one scalar or rejects this scalar. Also returns nil when
    /// `ArgumentText` can write values of the type, because the text of the type then takes precedence.
    static func value<Value>(_ value: Any, as type: Value.Type) -> Value? {
        guard let decodable = type as? any Decodable.Type, !ArgumentText.exists(for: type),
            !(value is any EncodedValue)
        else { return nil }
        if let value = Self.textValue(value, as: type) { return value }
        return try? decodable.init(from: Self(value: value, mismatch: Refused())) as? Value
    }

    private static func textValue<Value>(_ value: Any, as type: Value.Type) -> Value? {
        guard let text = value as? String, let type = type as? any ScalarText.Type else { return nil }
        return type.init(scalarText: text) as? Value
    }

    private struct Refused: Error {}

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        throw self.mismatch
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw self.mismatch }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { false }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if let value = self.value as? Value ?? Parameters.exactNumber(self.value, as: type) { return value }
        if let value = Self.textValue(self.value, as: type) { return value }
        guard let scalar = type as? any LosslessStringConvertible.Type else {
            // The type wraps another type. Its initializer decodes the other type from the scalar.
            return try Value(from: self)
        }
        let text = self.value as? String ?? (type is any BinaryFloatingPoint.Type ? "\(self.value)" : nil)
        guard let text, let value = Parameters.value(of: text, as: scalar) as? Value else {
            throw self.mismatch
        }
        return value
    }
}
