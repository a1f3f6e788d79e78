internal import WaybillRouting

#if Foundation
internal import FoundationEssentials
#endif

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
        if let value = Self.foundationValue(value, as: type) { return value }
        return try? decodable.init(from: Self(value: value, mismatch: Refused())) as? Value
    }

    /// Returns a `Data` from Base64, or a `Decimal` from its digits; nil for other types and other texts.
    ///
    /// The `init(from:)` of these types accepts a scalar only from a decoder of Foundation.
    private static func foundationValue<Value>(_ value: Any, as type: Value.Type) -> Value? {
        #if Foundation
        guard let text = value as? String else { return nil }
        if type == Data.self { return Data(base64Encoded: text) as? Value }
        // `Decimal(string:)` ignores the characters after a number, but `Double` rejects them. It also rounds
        // a number with more than 38 digits.
        if type == Decimal.self, text.allSatisfy({ "+-.0123456789Ee".contains($0) }), Double(text) != nil,
            Self.significantDigits(of: text) <= 38
        {
            return Decimal(string: text) as? Value
        }
        #endif
        return nil
    }

    #if Foundation
    /// Returns the number of digits of a decimal number without the zeros at both ends.
    private static func significantDigits(of text: String) -> Int {
        let mantissa = text.utf8.prefix { $0 | 0x20 != UInt8(ascii: "e") }
        let digits = mantissa.filter { (0x30...0x39).contains($0) }
        guard let first = digits.firstIndex(where: { $0 != 0x30 }),
            let last = digits.lastIndex(where: { $0 != 0x30 })
        else { return 0 }
        return last - first + 1
    }
    #endif

    private struct Refused: Error {}

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        throw self.mismatch
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw self.mismatch }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { false }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if let value = self.value as? Value ?? Parameters.exactNumber(self.value, as: type) { return value }
        if let value = Self.foundationValue(self.value, as: type) { return value }
        guard let scalar = type as? any LosslessStringConvertible.Type else {
            // The type wraps another type. Its initializer decodes the other type from the scalar.
            return try Value(from: self)
        }
        let text = self.value as? String ?? (type is any BinaryFloatingPoint.Type ? "\(self.value)" : nil)
        guard let text, let value = scalar.init(text) as? Value else { throw self.mismatch }
        return value
    }
}
