public import WaybillRouting

extension Message {
    /// A parameter with a text of its own, as a date has.
    ///
    /// - Throws: `missingParameter`, or `invalidParameter` with its text and the type.
    public func argument<Value: URLParameter>(_ name: String) throws(RoutingError) -> Value {
        try self.required(name, Value.init)
    }

    /// The same, where it may be missing.
    public func argument<Value: URLParameter>(_ name: String) throws(RoutingError) -> Value? {
        try self.optional(name, Value.init)
    }

    /// The same, where it may be there several times.
    public func argument<Value: URLParameter>(_ name: String) throws(RoutingError) -> [Value] {
        try self.arguments(name, Value.init) ?? []
    }

    /// The same, or nil if there is none.
    public func argument<Value: URLParameter>(_ name: String) throws(RoutingError) -> [Value]? {
        try self.arguments(name, Value.init)
    }
}
