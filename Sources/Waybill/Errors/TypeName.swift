internal import WaybillRouting

/// Types as they are written in Swift, for sentences that people read: `[Report?]`, not
/// `Array<Optional<Report>>`.
enum TypeName {
    /// The name of a type.
    static func of(_ type: any Any.Type) -> String {
        if let type = type as? any SugaredType.Type { return type.sugared }
        return type == Void.self ? "Void" : "\(type)"
    }

    /// The name of a value's type; for nil it says both, `nil (Report?)`.
    static func of(value: any Sendable) -> String {
        let name = Self.of(type(of: value))
        return Parameters.isNil(value) ? "nil (\(name))" : name
    }

    /// A name that a question mark can follow.
    fileprivate static func wrapped(_ type: any Any.Type) -> String {
        let name = Self.of(type)
        return name.hasPrefix("any ") || name.contains(" -> ") ? "(\(name))" : name
    }
}

/// A type that Swift has a shorter way of writing for.
private protocol SugaredType {
    static var sugared: String { get }
}

extension Optional: SugaredType {
    fileprivate static var sugared: String { "\(TypeName.wrapped(Wrapped.self))?" }
}

extension Array: SugaredType {
    fileprivate static var sugared: String { "[\(TypeName.of(Element.self))]" }
}

extension Dictionary: SugaredType {
    fileprivate static var sugared: String { "[\(TypeName.of(Key.self)): \(TypeName.of(Value.self))]" }
}
