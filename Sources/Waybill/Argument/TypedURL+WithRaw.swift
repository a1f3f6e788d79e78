// Less favoured than those of types that are made from text, for types that are both.
extension TypedURL {
    /// The URL with one parameter more that is an enumeration, or another type with a raw value.
    @_disfavoredOverload
    public func with<Raw: RawRepresentable & Sendable>(_ name: String, _ value: Raw) -> Self
    where Raw.RawValue: LosslessStringConvertible {
        self.adding(name, [value.rawValue.description])
    }

    /// The same, unless it is nil.
    @_disfavoredOverload
    public func with<Raw: RawRepresentable & Sendable>(_ name: String, _ value: Raw?) -> Self
    where Raw.RawValue: LosslessStringConvertible {
        self.adding(name, value.map { [$0.rawValue.description] } ?? [])
    }

    /// The same, once for each value.
    @_disfavoredOverload
    public func with<Raw: RawRepresentable & Sendable>(_ name: String, _ values: [Raw]) -> Self
    where Raw.RawValue: LosslessStringConvertible {
        self.adding(name, values.map(\.rawValue.description))
    }

    /// The same, if there are any.
    @_disfavoredOverload
    public func with<Raw: RawRepresentable & Sendable>(_ name: String, _ values: [Raw]?) -> Self
    where Raw.RawValue: LosslessStringConvertible {
        self.adding(name, (values ?? []).map(\.rawValue.description))
    }

    /// The URL with a value that has no text: it is passed with the call.
    @_disfavoredOverload
    public func with(_ name: String, _ value: some Sendable) -> Self { self.passing(name, value) }

    /// The same, unless it is nil.
    @_disfavoredOverload
    public func with(_ name: String, _ value: (some Sendable)?) -> Self {
        self.passing(name, value.map { $0 as any Sendable })
    }
}
