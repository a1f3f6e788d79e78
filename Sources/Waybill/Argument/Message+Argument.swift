public import WaybillRouting

// What `@Route` writes for each parameter of a method.
extension Message {
    /// A parameter, as the type that is needed here.
    ///
    /// ```swift
    /// users.detail(uid: try message.argument("uid"))
    /// ```
    ///
    /// The type says how the value is found:
    /// - what is made from text (`LosslessStringConvertible`, ``URLParameter``, or a type with such a raw value) in the
    ///   call, the path or the query;
    /// - an array of these likewise, with an element for each item of the name; it is empty if there is none;
    /// - any other type in the call alone: a structure, a closure, an actor;
    /// - an Optional as what it wraps, and nil if there is none.
    ///
    /// A value that was passed with the call arrives as it was passed. Its description is never read: a number is no
    /// `String`.
    ///
    /// - Parameter name: the name of the parameter.
    /// - Returns: the value.
    /// - Throws: `missingParameter`, or `invalidParameter` with the type that is expected and what there is instead.
    @inlinable
    public func argument<Value: Sendable>(_ name: String) throws(RoutingError) -> Value {
        // The compiler knows these types where the function is called, and does away with the questions and the casts.
        if Value.self == Int.self {
            let number: Int = try self.parameters.require(name)
            if let value = number as? Value { return value }
        }
        if Value.self == String.self {
            let text: String = try self.parameters.require(name)
            if let value = text as? Value { return value }
        }
        if Value.self == Int?.self {
            let number: Int? = try self.parameters.value(name)
            if let value = number as? Value { return value }
        }
        if Value.self == String?.self {
            let text: String? = try self.parameters.value(name)
            if let value = text as? Value { return value }
        }
        return try self.readArgument(name)
    }

    /// A parameter that is an Optional and has a default.
    ///
    /// Use it where `?? value` does not do: nil that is passed arrives as nil, and is not a missing value.
    ///
    /// - Parameters:
    ///   - name: the name of the parameter.
    ///   - value: the value that stands for a missing one.
    /// - Returns: the value that the message holds, or the other.
    /// - Throws: `invalidParameter` with the type that is expected and what there is instead.
    public func argument<Value: Sendable>(
        _ name: String,
        default value: @autoclosure () -> Value?
    ) throws(RoutingError) -> Value? {
        try ArgumentReader(self.parameters, name).read(Value?.self) ?? value()
    }

    @usableFromInline
    func readArgument<Value: Sendable>(_ name: String) throws(RoutingError) -> Value {
        if let value = try ArgumentReader(self.parameters, name).read(Value.self) { return value }
        guard let compound = Value.self as? any CompoundArgument.Type,
            let value = Self.absent(compound, as: Value.self)
        else { throw self.parameters.missing(name, Value.self) }
        return value
    }

    private static func absent<Compound: CompoundArgument, Value>(
        _ type: Compound.Type,
        as: Value.Type
    ) -> Value? {
        // A cast of the value itself: through `Any`, nil would become `.some(nil)`.
        guard let value = type.absent else { return nil }
        return value as? Value
    }
}
