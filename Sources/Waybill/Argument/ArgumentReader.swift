internal import WaybillRouting

/// Reads a parameter of a message as a value of any type.
///
/// A value that was passed with the call counts first, and is never read through its description. What the path and the
/// query say is read by what the type conforms to: ``URLParameter``, `LosslessStringConvertible`, or `RawRepresentable`
/// by a raw value that does; an Optional or an array of such reads what it is made of.
struct ArgumentReader {
    let parameters: Parameters
    let name: String
    /// One text of several, of which each is read as an element.
    private var text: String?

    init(_ parameters: Parameters, _ name: String) {
        self.parameters = parameters
        self.name = name
    }

    /// The value; nil if there is none of the name.
    ///
    /// - Throws: `invalidParameter` with both types.
    func read<Value>(_ type: Value.Type) throws(RoutingError) -> Value? {
        if let passed = self.parameters.call[self.name] { return try self.fit(passed, type) }
        return try self.readText(type)
    }

    /// Every text of the parameter, of which an array has an element each.
    var texts: [String] { self.text.map { [$0] } ?? self.parameters.all(self.name) }

    /// A text of several, as an element of an array.
    func element<Value>(_ text: String, _ type: Value.Type) throws(RoutingError) -> Value {
        var reader = self
        reader.text = text
        guard let value = try reader.readText(type) else { throw self.mismatch(type, text) }
        return value
    }

    func mismatch(_ type: any Any.Type, _ value: Any, isText: Bool = true) -> RoutingError {
        self.parameters.mismatch(self.name, type, value, isText: isText)
    }
}

extension ArgumentReader {
    /// The value that path and query give; nil if they give none.
    func readText<Value>(_ type: Value.Type) throws(RoutingError) -> Value? {
        if let compound = type as? any CompoundArgument.Type { return try self.readCompound(compound, type) }
        guard let text = self.text ?? self.parameters[self.name] else { return nil }
        guard let value = Self.value(of: text, type) else {
            throw self.mismatch(type, text, isText: ArgumentText.exists(for: type))
        }
        return value
    }

    private func readCompound<Compound: CompoundArgument, Value>(
        _ compound: Compound.Type,
        _ type: Value.Type
    ) throws(RoutingError) -> Value? {
        guard let value = try compound.read(self) else { return nil }
        return value as? Value
    }

    /// The value that a text says; nil if it says none of the type.
    private static func value<Value>(of text: String, _ type: Value.Type) -> Value? {
        if let type = type as? any URLParameter.Type { return type.init(urlParameter: text) as? Value }
        if let type = type as? any LosslessStringConvertible.Type {
            if Value.self == Bool.self { return Parameters.bool(text) as? Value }
            return type.init(text) as? Value
        }
        guard let type = type as? any RawRepresentable.Type else { return nil }
        return self.raw(type) { ($0 as? any LosslessStringConvertible.Type)?.init(text) } as? Value
    }

    private static func raw<Raw: RawRepresentable>(
        _ type: Raw.Type,
        _ rawValue: (any Any.Type) -> Any?
    ) -> Raw? {
        (rawValue(Raw.RawValue.self) as? Raw.RawValue).flatMap { Raw(rawValue: $0) }
    }
}

extension ArgumentReader {
    /// A passed value as the type that is needed; nil if it is nil, and the type is no Optional.
    func fit<Value>(_ passed: Any, _ type: Value.Type) throws(RoutingError) -> Value? {
        // Without this, a cast would make `.some(nil)` of nil, or the other way round.
        if Swift.type(of: passed) == type { return passed as? Value }
        if let compound = type as? any CompoundArgument.Type {
            return try self.fitCompound(passed, compound, type)
        }
        if let value = passed as? Value { return value }
        if Parameters.isNil(passed) { return nil }
        if let text = Parameters.givenText(passed) {
            guard let value = Self.value(of: text, type) else { throw self.mismatch(type, text) }
            return value
        }
        if let number = Parameters.exactNumber(passed, as: type) { return number }
        if let type = type as? any RawRepresentable.Type,
            let value = Self.raw(type, { Self.rawValue(passed, $0) }) as? Value
        {
            return value
        }
        throw self.mismatch(type, passed)
    }

    private func fitCompound<Compound: CompoundArgument, Value>(
        _ passed: Any,
        _ compound: Compound.Type,
        _ type: Value.Type
    ) throws(RoutingError) -> Value? {
        guard let value = try compound.fit(passed, self) else { return nil }
        return value as? Value
    }

    /// A passed value that is meant as the raw value of an enumeration.
    private static func rawValue(_ passed: Any, _ type: any Any.Type) -> Any? {
        func exact<Value>(_ type: Value.Type) -> Any? { Parameters.exactNumber(passed, as: type) }
        return exact(type) ?? passed
    }
}
