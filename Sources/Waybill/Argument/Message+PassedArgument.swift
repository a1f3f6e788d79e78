public import WaybillRouting

extension Message {
    /// A parameter that is no text: a value, a closure or an actor that the caller passes with the call.
    ///
    /// - Throws: `missingParameter`, or `invalidParameter` with both types.
    @_disfavoredOverload
    public func argument<Value: Sendable>(_ name: String) throws(RoutingError) -> Value {
        if let value: Value = try self.passed(name) { return value }
        throw self.parameters.missing(name, Value.self)
    }

    /// The same, where it may be missing.
    @_disfavoredOverload
    public func argument<Value: Sendable>(_ name: String) throws(RoutingError) -> Value? {
        try self.passed(name)
    }

    private func passed<Value: Sendable>(_ name: String) throws(RoutingError) -> Value? {
        let found: any Sendable
        if let passed = self.parameters.call[name] {
            if let value = passed as? Value { return value }
            found = passed
        } else {
            guard let text = self.parameters[name] else { return nil }
            found = text
        }
        throw RoutingError(
            .invalidParameter,
            url: self.parameters.url,
            message:
                "`\(name)` must be a \(Value.self) that is passed with the call, and is a \(type(of: found)): \(found)"
        )
    }
}
