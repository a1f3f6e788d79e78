public import WaybillRouting

extension Message {
    /// A parameter that is no text: a value, a closure or an actor that the caller passes with the call.
    ///
    /// If `Value` is an Optional, the parameter may be missing.
    ///
    /// - Throws: `missingParameter`, or `invalidParameter` with both types.
    @_disfavoredOverload
    public func argument<Value: Sendable>(_ name: String) throws(RoutingError) -> Value {
        // One function for both: of two that differ in `Value` and `Value?` only, the compiler prefers neither.
        if let optional = Value.self as? any AnyOptional.Type, !self.has(name) {
            if let value = optional.absent as? Value { return value }
        }
        return try self.passed(name)
    }

    private func has(_ name: String) -> Bool {
        self.parameters.call[name] != nil || self.parameters[name] != nil
    }

    private func passed<Value: Sendable>(_ name: String) throws(RoutingError) -> Value {
        let found: any Sendable
        if let passed = self.parameters.call[name] {
            if let value = passed as? Value { return value }
            if Parameters.isNil(passed) { throw self.parameters.missing(name, Value.self) }
            found = passed
        } else {
            guard let text = self.parameters[name] else { throw self.parameters.missing(name, Value.self) }
            found = text
        }
        let wanted = (Value.self as? any AnyOptional.Type)?.wrapped ?? Value.self
        throw RoutingError(
            .invalidParameter,
            url: self.parameters.url,
            message:
                "`\(name)` must be a \(wanted) that is passed with the call, and is a \(type(of: found)): \(found)"
        )
    }
}
