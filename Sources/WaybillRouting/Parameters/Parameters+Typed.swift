extension Parameters {
    /// A value, as the type that is needed.
    ///
    /// - Throws: ``RoutingError/Code/missingParameter`` when there is no value of that name, and
    ///   ``RoutingError/Code/invalidParameter`` when there is one that is no `Value`.
    @inlinable
    public func require<Value: LosslessStringConvertible>(
        _ name: String,
        as type: Value.Type = Value.self
    ) throws(RoutingError) -> Value {
        guard let value = try self.value(name, as: type) else { throw self.missing(name, type) }
        return value
    }

    /// A value, as the type that is needed, or nil when there is none of that name.
    ///
    /// - Throws: ``RoutingError/Code/invalidParameter`` when there is a value that is no `Value`.
    @inlinable
    public func value<Value: LosslessStringConvertible>(
        _ name: String,
        as type: Value.Type = Value.self
    ) throws(RoutingError) -> Value? {
        if Value.self == Int.self {
            switch self.readInt(name) {
            // Casting the number and not the optional lets the compiler do away with the cast.
            case .number(let number): if let value = number as? Value { return value }
            case .missing: return nil
            case .unread: break
            }
        }
        return try self.readText(name, as: type)
    }

    /// A value of any type that is made from text.
    @inlinable
    @inline(never)
    func readText<Value: LosslessStringConvertible>(
        _ name: String,
        as type: Value.Type
    ) throws(RoutingError) -> Value? {
        let text: String
        if let passed = self.names?.call?[name] {
            if let value = passed as? Value { return value }
            if Self.isNil(passed) { return nil }
            guard let given = Self.givenText(passed) else {
                if let number = Self.exactNumber(passed, as: type) { return number }
                throw self.mismatch(name, type, passed)
            }
            text = given
        } else {
            guard let location = self.locate(name) else { return nil }
            text = self.text(at: location)
        }
        if let value = Value(text) { return value }
        if Value.self == Bool.self, let truth = Self.bool(text), let value = truth as? Value { return value }
        throw self.mismatch(name, type, text)
    }

    /// A truth value in any of the spellings of the route language.
    @usableFromInline
    package static func bool(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "true", "1": true
        case "false", "0": false
        default: nil
        }
    }
}
