internal import WaybillRouting

/// Decodes one scalar, that is text, a number or a Boolean, as a `Decodable` type.
///
/// A peer passes scalars as JSON, and a URL contains only text.
struct ScalarDecoder: Decoder, SingleValueDecodingContainer {
    let value: Any
    /// The error to throw when the type needs more than one scalar, or a scalar of another kind.
    let mismatch: any Error
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    /// Returns a value of a type that decodes itself from one scalar.
    ///
    /// Returns nil when the type needs more than one scalar or rejects this one. Returns nil as well when
    /// `ArgumentText` can write values of the type, since the type's text then has precedence.
    static func value<Value>(_ value: Any, as type: Value.Type) -> Value? {
        guard let decodable = type as? any Decodable.Type, !ArgumentText.exists(for: type),
            !(value is any EncodedValue)
        else { return nil }
        return try? decodable.init(from: Self(value: value, mismatch: Refused())) as? Value
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
        guard let scalar = type as? any LosslessStringConvertible.Type else {
            // The type wraps another type, which its own initializer decodes from the scalar.
            return try Value(from: self)
        }
        let text = self.value as? String ?? (type is any BinaryFloatingPoint.Type ? "\(self.value)" : nil)
        guard let text, let value = scalar.init(text) as? Value else { throw self.mismatch }
        return value
    }
}
