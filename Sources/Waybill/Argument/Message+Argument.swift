public import WaybillRouting

// What `@Route` writes for each parameter of a method: the parameter's type picks the overload. A type that is made
// from text is read from path, query and call; any other has to be passed with the call.
extension Message {
    /// A parameter, as the type that is needed here.
    ///
    /// ```swift
    /// users.detail(uid: try message.argument("uid"))
    /// ```
    ///
    /// - Throws: `missingParameter`, or `invalidParameter` with its text and the type.
    @inlinable
    public func argument<Value: LosslessStringConvertible>(_ name: String) throws(RoutingError) -> Value {
        try self.parameters.require(name)
    }

    /// A parameter that may be missing.
    @inlinable
    public func argument<Value: LosslessStringConvertible>(_ name: String) throws(RoutingError) -> Value? {
        try self.parameters.value(name)
    }

    /// The values of a parameter that may be there several times: `?id=1&id=2`.
    public func argument<Value: LosslessStringConvertible>(_ name: String) throws(RoutingError) -> [Value] {
        try self.arguments(name, Value.init) ?? []
    }

    /// The same, or nil if there is none.
    public func argument<Value: LosslessStringConvertible>(_ name: String) throws(RoutingError) -> [Value]? {
        try self.arguments(name, Value.init)
    }
}
