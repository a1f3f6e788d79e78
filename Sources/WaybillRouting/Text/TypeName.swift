/// The name of a type in Swift's spelling: `[String]`, `Report?`, `any Sendable`.
package enum TypeName {
    /// Returns the name of a type.
    ///
    /// Values on a bus are `Sendable`, but the runtime describes `any Sendable` as `Any`.
    package static func of(_ type: any Any.Type) -> String {
        if let optional = type as? any AnyOptional.Type { return self.optional(self.of(optional.wrapped)) }
        if let array = type as? any AnyArray.Type { return "[\(self.of(array.element))]" }
        if let dictionary = type as? any AnyDictionary.Type {
            return "[\(self.of(dictionary.key)): \(self.of(dictionary.value))]"
        }
        let name = "\(type)"
        switch name {
        case "()": return "Void"
        case "Any": return "any Sendable"
        // Only the metatype of an existential has this suffix.
        default: return "\(Swift.type(of: type))".hasSuffix(".Protocol") ? "any \(name)" : name
        }
    }

    /// Returns the name of a value's type.
    ///
    /// For nil, the name is `nil (Report?)`. For an encoded value, the name is its kind.
    package static func of(value: any Sendable) -> String {
        if let encoded = value as? any EncodedValue { return encoded.kind }
        let name = self.of(Swift.type(of: value as Any))
        return Parameters.isNil(value) ? "nil (\(name))" : name
    }

    private static func optional(_ wrapped: String) -> String {
        let isOne = wrapped.hasSuffix("?") || wrapped.hasPrefix("[")
        let isCompound = wrapped.hasPrefix("any ") || wrapped.contains("->") || wrapped.contains(" & ")
        return isCompound && !isOne ? "(\(wrapped))?" : "\(wrapped)?"
    }
}

private protocol AnyArray {
    static var element: any Any.Type { get }
}

extension Array: AnyArray {
    fileprivate static var element: any Any.Type { Element.self }
}

private protocol AnyDictionary {
    static var key: any Any.Type { get }
    static var value: any Any.Type { get }
}

extension Dictionary: AnyDictionary {
    fileprivate static var key: any Any.Type { Key.self }
    fileprivate static var value: any Any.Type { Value.self }
}

/// The type `Optional` without its generic parameter.
package protocol AnyOptional {
    /// The wrapped type.
    static var wrapped: any Any.Type { get }

    /// The number of nested optionals: 2 for `Int??`.
    static var depth: Int { get }

    /// The wrapped value, which may itself be an optional.
    var content: Any? { get }
}

extension AnyOptional {
    /// Whether the value is nil.
    package var isNil: Bool { self.content == nil }
}

extension Optional: AnyOptional {
    package static var wrapped: any Any.Type { Wrapped.self }

    package static var depth: Int { 1 + ((Wrapped.self as? any AnyOptional.Type)?.depth ?? 0) }

    package var content: Any? { self.map { $0 as Any } }
}
