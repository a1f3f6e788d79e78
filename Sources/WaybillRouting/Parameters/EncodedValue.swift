/// A value that came as bytes, and takes its type where it is read.
///
/// Code that turns `any Sendable` into a type casts first, and asks ``EncodedValues`` only if the cast has
/// failed, so that values of this process pay nothing. An implementation conforms to no other protocol: a
/// cast to an existential would give the reader the encoded value itself.
package protocol EncodedValue: Sendable {
    /// The value as a type.
    ///
    /// - Parameter type: what the reader asks for.
    /// - Returns: the value; nil if values of the type cannot be decoded at all.
    /// - Throws: the reason that the bytes are no value of the type.
    func decoded<Value>(as type: Value.Type) throws -> Value?

    /// The value as what the bytes say by themselves: `()`, `Bool`, `Int`, `Double`, `String`,
    /// `[any Sendable]` or `[String: any Sendable]`.
    var plain: any Sendable { get }

    /// What it is, for error messages: "JSON object".
    var kind: String { get }
}

/// Conversions of values that may be encoded.
package enum EncodedValues {
    /// An encoded value as a type, for values that a cast did not convert; nil if it is not encoded, or is no
    /// value of the type.
    package static func value<Value>(in value: Any, as type: Value.Type) -> Value? {
        guard let encoded = value as? any EncodedValue else { return nil }
        return try? self.decode(encoded, as: type)
    }

    /// An encoded value as a type: decoded, or a cast of what the bytes say by themselves.
    ///
    /// - Returns: the value; nil if the type is one that neither gives.
    /// - Throws: the reason that the bytes are no value of the type.
    package static func decode<Value>(_ encoded: any EncodedValue, as type: Value.Type) throws -> Value? {
        if self.isUnconstrained(type) { return encoded.plain as? Value }
        return try encoded.decoded(as: type) ?? encoded.plain as? Value
    }

    /// A value as one that needs no type to be read: what the bytes say, or the value if it is not encoded.
    package static func plain(_ value: any Sendable) -> any Sendable {
        (value as? any EncodedValue)?.plain ?? value
    }

    /// The same for several values; the values are the same if none of them is encoded.
    package static func plain(_ values: [String: any Sendable]) -> [String: any Sendable] {
        guard values.values.contains(where: { $0 is any EncodedValue }) else { return values }
        return values.mapValues { self.plain($0) }
    }

    /// Whether a type is `any Sendable`, or an Optional of it: a cast to it succeeds with the encoded value
    /// itself.
    ///
    /// These are comparisons of addresses, since each successful cast asks; the runtime takes `any Sendable`
    /// for `Any`.
    @inline(__always)
    package static func isUnconstrained<Value>(_ type: Value.Type) -> Bool {
        Value.self == Any.self || Value.self == Any?.self || Value.self == Any??.self
            || Value.self == Any???.self
    }

    /// Why an encoded value is no value of a type; nil if it is one, is not encoded, or has no reason to
    /// give.
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
