/// The text of a value in a URL.
///
/// ``ArgumentReader`` reads the text that this type writes. Both types test the conformances of a value's
/// type in the same order, so that the reader can read every text.
enum ArgumentText {
    case one(String)
    case several([String])
    /// The value is nil or an empty array, so the URL omits the parameter.
    case absent
    /// The value has no text, so the bus passes the value with the call.
    case none

    init<Value>(_ value: Value) {
        if let type = Value.self as? any CompoundArgument.Type {
            self = Self.compound(value, type)
        } else if let text = Self.single(value) {
            self = .one(text)
        } else {
            self = .none
        }
    }

    /// Whether values of a type can be written into a URL.
    static func exists<Value>(for type: Value.Type) -> Bool {
        if let type = type as? any CompoundArgument.Type { return type.hasText }
        if type is any URLParameter.Type || type is any LosslessStringConvertible.Type { return true }
        guard let type = type as? any RawRepresentable.Type else { return false }
        return self.hasRawText(type)
    }

    // The declared type decides whether a value has a text. A value that is declared as `any Sendable` is
    // passed with the call, even when it holds a `String`.
    private static func single<Value>(_ value: Value) -> String? {
        if let text = value as? String, Value.self == String.self { return text }
        if Value.self is any URLParameter.Type { return (value as? any URLParameter)?.urlParameter }
        if Value.self is any LosslessStringConvertible.Type {
            return (value as? any LosslessStringConvertible)?.description
        }
        guard let type = Value.self as? any RawRepresentable.Type, self.hasRawText(type) else { return nil }
        return (value as? any RawRepresentable).flatMap { self.raw($0) }
    }

    private static func raw(_ value: some RawRepresentable) -> String? {
        if let rawValue = value.rawValue as? any URLParameter { return rawValue.urlParameter }
        return (value.rawValue as? any LosslessStringConvertible)?.description
    }

    private static func hasRawText<Raw: RawRepresentable>(_ type: Raw.Type) -> Bool {
        let type = Raw.RawValue.self
        return type is any URLParameter.Type || type is any LosslessStringConvertible.Type
    }

    private static func compound<Value, Compound: CompoundArgument>(
        _ value: Value,
        _ type: Compound.Type
    ) -> ArgumentText {
        (value as? Compound)?.text ?? .none
    }
}
