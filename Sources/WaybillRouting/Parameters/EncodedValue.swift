/// A value that was received as bytes.
///
/// The value is decoded when a reader asks for a type.
///
/// Code that converts `any Sendable` to a type casts first, and calls ``EncodedValues`` only if the cast has
/// failed. Values of this process therefore cost nothing more. A type that conforms to `EncodedValue` must
/// not conform to any other protocol, because a cast to that protocol would return the encoded value itself.
package protocol EncodedValue: Sendable {
    /// Returns the value, decoded as a type.
    ///
    /// - Parameter type: The type that the reader asks for.
    /// - Returns: The value; nil if no value of the type can be decoded.
    /// - Throws: The reason why the bytes do not contain a value of the type.
    func decoded<Value>(as type: Value.Type) throws -> Value?

    /// The value that the bytes contain without knowledge of a type: `()`, `Bool`, `Int`, `Double`, `String`,
    /// `[any Sendable]` or `[String: any Sendable]`.
    var plain: any Sendable { get }

    /// The text of the value as a parameter; a number has the digits that were received.
    var text: String { get }

    /// The kind of the value for error messages, for example "JSON object".
    var kind: String { get }

    /// The number of bytes.
    var size: Int { get }
}

/// Converts parameters and replies, which are Swift values, or JSON from another process.
package enum EncodedValues {
    /// Returns the approximate memory of a value: the bytes of a text or an encoded value, and a constant.
    package static func size(of value: (any Sendable)?) -> Int {
        128 + ((value as? any EncodedValue)?.size ?? (value as? String)?.utf8.count ?? 0)
    }

    /// Returns an encoded value, decoded as a type.
    ///
    /// Call this method when a cast has failed.
    ///
    /// Returns nil if the value is not encoded, or cannot be decoded as the type.
    package static func value<Value>(in value: Any, as type: Value.Type) -> Value? {
        guard let encoded = value as? any EncodedValue else { return nil }
        return try? self.decode(encoded, as: type)
    }

    /// Returns an encoded value as a type: decoded from the bytes, or cast from the plain value.
    ///
    /// - Returns: The value; nil if neither conversion supports the type.
    /// - Throws: The reason why the bytes do not contain a value of the type.
    package static func decode<Value>(_ encoded: any EncodedValue, as type: Value.Type) throws -> Value? {
        if self.isUnconstrained(type) { return encoded.plain as? Value }
        return try encoded.decoded(as: type) ?? encoded.plain as? Value
    }

    /// Returns the plain value of an encoded value; returns any other value unchanged.
    package static func plain(_ value: any Sendable) -> any Sendable {
        (value as? any EncodedValue)?.plain ?? value
    }

    /// Returns values in which each encoded value is replaced by its plain value.
    ///
    /// Returns the values unchanged if none of them is encoded.
    package static func plain(_ values: [String: any Sendable]) -> [String: any Sendable] {
        guard values.values.contains(where: { $0 is any EncodedValue }) else { return values }
        return values.mapValues { self.plain($0) }
    }

    /// Returns whether a type is `any Sendable` or an optional of `any Sendable`.
    ///
    /// A cast to this type succeeds with the encoded value itself, so the value must be replaced by its plain
    /// value. The function compares the addresses of types, because every successful cast calls it. At run
    /// time `any Sendable` is the same type as `Any`.
    package static func isUnconstrained<Value>(_ type: Value.Type) -> Bool {
        Value.self == Any.self || Value.self == Any?.self || Value.self == Any??.self
            || Value.self == Any???.self
    }

    /// Returns the reason why an encoded value cannot be decoded as a type.
    ///
    /// Returns nil if the value can be decoded, is not encoded, or has no reason to report.
    package static func reason<Value>(_ value: Any, isNo type: Value.Type) -> (any Error)? {
        guard let encoded = value as? any EncodedValue else { return nil }
        do {
            _ = try self.decode(encoded, as: type)
            return nil
        } catch {
            return error
        }
    }
}
