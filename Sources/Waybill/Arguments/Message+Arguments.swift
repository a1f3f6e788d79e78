public import WaybillRouting

// The functions that `@Route` calls for each parameter of a method.
extension Message {
    /// Returns a parameter as a value of the type that the call site expects.
    ///
    /// ```swift
    /// users.detail(uid: try message.argument("uid"))
    /// ```
    ///
    /// The type decides where the value is read:
    /// - A type that is made from text is read from the values that the caller passed, the path or the query.
    ///   Such types conform to `LosslessStringConvertible` or ``/WaybillRouting/URLParameter``, or have a raw
    ///   value that is `LosslessStringConvertible`.
    /// - An array of a type that is made from text has one element for each item with the name.
    /// - Any other type, for example a structure, a closure or an actor, is read only from the passed values.
    /// - An Optional is read as the type that it wraps, and is nil when no value has the name.
    ///
    /// A passed value of the expected type arrives unchanged. A passed text is parsed, and a passed integer
    /// is converted if the expected type represents it exactly. The method never reads the description of a
    /// value, so it does not accept a number as a `String`. `Value` need not be `Sendable`, because every
    /// passed value is.
    ///
    /// - Throws: `missingParameter`, or `invalidParameter` with the expected type and the actual value.
    @inlinable
    public func argument<Value>(_ name: String) throws(RoutingError) -> Value {
        // The compiler knows `Value` at the call site, and removes these comparisons and casts.
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
        return try self.parameters.argument(name)
    }

    /// Returns an optional parameter, or a default value when the message has no parameter of this name.
    ///
    /// Use this method instead of `?? value`, which would also replace a nil that was passed with the call.
    ///
    /// - Throws: `invalidParameter` with the expected type and the actual value.
    public func argument<Value>(
        _ name: String,
        default value: @autoclosure () -> Value?
    ) throws(RoutingError) -> Value? {
        try self.parameters.argument(name, default: value)
    }

    /// Decodes all parameters as one value, whose properties receive the parameters of the same names.
    ///
    /// ```swift
    /// struct Product: Decodable { let id: Int; var tags: [String]; var note: String? }
    ///
    /// try bus.register("app://product/:id") { message in show(try message.decode(Product.self)) }
    /// try await bus.route("app://product/7?tags=red&tags=new&other=ignored")
    /// ```
    ///
    /// Each property is read as ``argument(_:)`` reads a parameter of the property's type. A structure, or
    /// another type without a text, must be passed with the call, unless the type can be decoded from a
    /// single text. Parameters without a property are ignored.
    ///
    /// - Throws: `missingParameter` with the name of a property that is not Optional and has no parameter, or
    ///   `invalidParameter` with the expected type and the actual value. An error that the type's own
    ///   `init(from:)` throws becomes the cause of an `invalidParameter`.
    public func decode<Value: Decodable>(_ type: Value.Type = Value.self) throws(RoutingError) -> Value {
        try self.parameters.decode(type)
    }

    /// Decodes the parameters onto a value, whose properties keep their values when no parameter has their
    /// names.
    ///
    /// ```swift
    /// struct Detail: Codable { var symbol = ""; var price = 9.5 }
    ///
    /// try bus.register("app://detail") { message in show(try message.decode(onto: Detail())) }
    /// try await bus.route("app://detail?symbol=WB")        // symbol: "WB", price: 9.5
    /// ```
    ///
    /// This method calls the value's `encode(to:)` to read the properties, and matches them by their coding
    /// keys. Parameters are read as by ``decode(_:)``. An object can keep its parameters in one property and
    /// update the property with each message: `self.detail = try message.decode(onto: self.detail)`.
    ///
    /// - Throws: The errors of ``decode(_:)``. An error of `encode(to:)` becomes the cause of an
    ///   `invalidParameter`.
    public func decode<Value: Codable>(onto value: Value) throws(RoutingError) -> Value {
        try self.parameters.decode(onto: value)
    }
}
