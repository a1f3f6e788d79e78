public import WaybillRouting

// Less favoured than the others, for types that are both.
extension Message {
    /// A parameter that is an enumeration, or another type with a raw value.
    ///
    /// - Throws: `missingParameter`, or `invalidParameter` with its text and the type.
    @_disfavoredOverload
    public func argument<Value: RawRepresentable & Sendable>(_ name: String) throws(RoutingError) -> Value
    where Value.RawValue: LosslessStringConvertible {
        try self.required(name, Self.raw)
    }

    /// The same, where it may be missing.
    @_disfavoredOverload
    public func argument<Value: RawRepresentable & Sendable>(_ name: String) throws(RoutingError) -> Value?
    where Value.RawValue: LosslessStringConvertible {
        try self.optional(name, Self.raw)
    }

    /// The same, where it may be there several times.
    @_disfavoredOverload
    public func argument<Value: RawRepresentable & Sendable>(_ name: String) throws(RoutingError) -> [Value]
    where Value.RawValue: LosslessStringConvertible {
        try self.arguments(name, Self.raw) ?? []
    }

    /// The same, or nil if there is none.
    @_disfavoredOverload
    public func argument<Value: RawRepresentable & Sendable>(_ name: String) throws(RoutingError) -> [Value]?
    where Value.RawValue: LosslessStringConvertible {
        try self.arguments(name, Self.raw)
    }

    private static func raw<Value: RawRepresentable & Sendable>(_ text: String) -> Value?
    where Value.RawValue: LosslessStringConvertible {
        Value.RawValue(text).flatMap(Value.init)
    }
}
