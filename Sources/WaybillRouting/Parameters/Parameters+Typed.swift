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
            text = Self.text(of: passed)
        } else {
            guard let location = self.locate(name) else { return nil }
            text = self.text(at: location)
        }
        if let value = Value(text) { return value }
        if Value.self == Bool.self, let truth = Self.bool(text), let value = truth as? Value { return value }
        throw self.invalid(name, type)
    }

    /// A truth value in any of the spellings of the route language.
    @usableFromInline
    static func bool(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "true", "1": true
        case "false", "0": false
        default: nil
        }
    }

    /// The error about a parameter that is not there.
    @usableFromInline
    @inline(never)
    package func missing(_ name: String, _ type: any Any.Type) -> RoutingError {
        let message = "there is no parameter `\(name)`, and \(Self.article(type)) \(type) is needed"
        return RoutingError(.missingParameter, url: self.text, message: message)
    }

    @usableFromInline
    @inline(never)
    func invalid(_ name: String, _ type: any Any.Type) -> RoutingError {
        self.invalid(name, type, self[name] ?? "")
    }

    /// The error about a parameter whose text is not of the type that is needed.
    package func invalid(_ name: String, _ type: any Any.Type, _ text: String) -> RoutingError {
        let message =
            "`\(name)` is not \(Self.article(type)) \(type): \(text.isEmpty ? "(empty)" : text.onShortLine)"
        return RoutingError(.invalidParameter, url: self.text, message: message)
    }

    private static func article(_ type: any Any.Type) -> String {
        // A UUID, a URL and a UInt are spoken like a user.
        "AEIO".contains("\(type)".prefix(1)) ? "an" : "a"
    }
}
