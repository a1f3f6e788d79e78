internal import WaybillRouting

/// Gives one value, text, a number or a Boolean, to a `Decodable` type that is made of one.
///
/// What a peer passes as JSON comes as such a value, and a URL has texts only.
struct ScalarDecoder: Decoder, SingleValueDecodingContainer {
    let value: Any
    /// Thrown for a type that is made of more, or of something else.
    let mismatch: any Error
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    /// The value of a type that decodes itself from one value; nil if the type does not, or refuses it, or is
    /// one whose texts say all that a URL can.
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
            // A type that is made of another one.
            return try Value(from: self)
        }
        let text = self.value as? String ?? (type is any BinaryFloatingPoint.Type ? "\(self.value)" : nil)
        guard let text, let value = scalar.init(text) as? Value else { throw self.mismatch }
        return value
    }
}
