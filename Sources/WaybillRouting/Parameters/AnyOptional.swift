/// An Optional, whatever it wraps.
package protocol AnyOptional {
    /// The Optional without a value.
    static var absent: Self { get }

    /// What it wraps.
    static var wrapped: any Any.Type { get }

    /// Whether it has no value.
    var isNil: Bool { get }
}

extension Optional: AnyOptional {
    package static var absent: Self { nil }

    package static var wrapped: any Any.Type { Wrapped.self }

    package var isNil: Bool { self == nil }
}
