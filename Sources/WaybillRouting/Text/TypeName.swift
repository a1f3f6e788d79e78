/// The name of a type as it is written in Swift: `[String]`, `Report?`, `any Sendable`.
package enum TypeName {
    /// The name of a type.
    ///
    /// The types are those of values on a bus, which are all `Sendable`. What runs knows `any Sendable` as `Any`.
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
        // The type of an existential's type has this ending, and that of any other type does not.
        default: return "\(Swift.type(of: type))".hasSuffix(".Protocol") ? "any \(name)" : name
        }
    }

    /// The name of a value's type; for nil it says both: `nil (Report?)`.
    package static func of(value: any Sendable) -> String {
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

/// An Optional, whatever it wraps.
package protocol AnyOptional {
    /// The type that it wraps.
    static var wrapped: any Any.Type { get }

    /// How many Optionals are inside one another: 2 for `Int??`.
    static var depth: Int { get }

    /// The value inside, which may be an Optional again.
    var content: Any? { get }
}

extension AnyOptional {
    /// Whether it has no value.
    package var isNil: Bool { self.content == nil }
}

extension Optional: AnyOptional {
    package static var wrapped: any Any.Type { Wrapped.self }

    package static var depth: Int { 1 + ((Wrapped.self as? any AnyOptional.Type)?.depth ?? 0) }

    package var content: Any? { self.map { $0 as Any } }
}
