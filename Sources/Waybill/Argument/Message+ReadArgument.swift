internal import WaybillRouting

// What the overloads of `argument` are made of: a value that is passed with the call counts if it has the type, and
// the text otherwise.
extension Message {
    func required<Value>(_ name: String, _ read: (String) -> Value?) throws(RoutingError) -> Value {
        guard let value = try self.optional(name, read) else {
            throw self.parameters.missing(name, Value.self)
        }
        return value
    }

    func optional<Value>(_ name: String, _ read: (String) -> Value?) throws(RoutingError) -> Value? {
        if let passed = self.parameters.call[name], let value = passed as? Value { return value }
        guard let text = self.parameters[name] else { return nil }
        guard let value = read(text) else { throw self.parameters.invalid(name, Value.self, text) }
        return value
    }

    /// Every value of a parameter; nil if there is none.
    func arguments<Value>(_ name: String, _ read: (String) -> Value?) throws(RoutingError) -> [Value]? {
        if let passed = self.parameters.call[name], let values = passed as? [Value] { return values }
        let texts = self.parameters.all(name)
        guard !texts.isEmpty else { return nil }
        var values: [Value] = []
        for text in texts {
            guard let value = read(text) else { throw self.parameters.invalid(name, Value.self, text) }
            values.append(value)
        }
        return values
    }
}
