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
