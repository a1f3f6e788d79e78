extension Parameters {
    /// Returns a parameter as a value of any type, or the value that the type has for a missing parameter.
    @usableFromInline
    package func argument<Value>(_ name: String) throws(RoutingError) -> Value {
        if let value = try ArgumentReader(self, name).read(Value.self) { return value }
        guard let compound = Value.self as? any CompoundArgument.Type,
            let value = Self.absent(compound, as: Value.self)
        else { throw self.missing(name, Value.self) }
        return value
    }

    /// Returns an optional parameter, or a default value when no parameter has the name.
    package func argument<Value>(
        _ name: String,
        default value: () -> Value?
    ) throws(RoutingError) -> Value? {
        try ArgumentReader(self, name).read(Value?.self) ?? value()
    }

    /// Returns whether a type has a value for a missing parameter, as an Optional and most arrays have.
    package static func hasAbsentValue(_ type: any Any.Type) -> Bool {
        (type as? any CompoundArgument.Type)?.absent != nil
    }

    private static func absent<Compound: CompoundArgument, Value>(
        _ type: Compound.Type,
        as: Value.Type
    ) -> Value? {
        // Cast the value itself. A cast through `Any` would turn nil into `.some(nil)`.
        guard let value = type.absent else { return nil }
        return value as? Value
    }
}

/// Reads a parameter as a value of any type.
///
/// A value that was passed with the call takes precedence, and the description of this value is never read. A
/// text from the path or the query is read according to the type's conformance: ``URLParameter``,
/// `LosslessStringConvertible`, or `RawRepresentable` with a raw value that has such a conformance. An
/// Optional is read as the type that it wraps, and an array is read element by element.
struct ArgumentReader {
    let parameters: Parameters
    let name: String
    /// The text of one array element; nil when the reader reads the whole parameter.
    private var text: String?

    init(_ parameters: Parameters, _ name: String) {
        self.parameters = parameters
        self.name = name
    }

    /// Returns the value, or nil when no parameter has the name.
    func read<Value>(_ type: Value.Type) throws(RoutingError) -> Value? {
        if let passed = self.parameters.passedValue(self.name) { return try self.fit(passed, type) }
        return try self.readText(type)
    }

    /// The texts of the parameter, one for each element of an array.
    var texts: [String] { self.text.map { [$0] } ?? self.parameters.all(self.name) }

    /// Returns one text of the parameter as an element of an array.
    func element<Value>(_ text: String, _ type: Value.Type) throws(RoutingError) -> Value {
        var reader = self
        reader.text = text
        guard let value = try reader.readText(type) else { throw self.mismatch(type, text) }
        return value
    }

    func mismatch(_ type: any Any.Type, _ value: Any, isText: Bool = true) -> RoutingError {
        self.parameters.mismatch(self.name, type: type, value: value, isText: isText)
    }
}

extension ArgumentReader {
    /// Returns the value from the path or the query, or nil when neither contains the name.
    func readText<Value>(_ type: Value.Type) throws(RoutingError) -> Value? {
        if let compound = type as? any CompoundArgument.Type { return try self.readCompound(compound, type) }
        guard let text = self.text ?? self.parameters[self.name] else { return nil }
        guard let value = Self.parsed(text, as: type) ?? ScalarDecoder.value(text, as: type) else {
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

    /// Returns the value that a text represents, or nil when the text does not represent a value of the type.
    private static func parsed<Value>(_ text: String, as type: Value.Type) -> Value? {
        if let type = type as? any URLParameter.Type { return type.init(urlParameter: text) as? Value }
        if let type = type as? any LosslessStringConvertible.Type {
            return Parameters.value(of: text, as: type) as? Value
        }
        guard let type = type as? any RawRepresentable.Type else { return nil }
        return self.raw(type) { rawType in
            if let type = rawType as? any URLParameter.Type { return type.init(urlParameter: text) }
            return (rawType as? any LosslessStringConvertible.Type).flatMap {
                Parameters.value(of: text, as: $0)
            }
        } as? Value
    }

    private static func raw<Raw: RawRepresentable>(
        _ type: Raw.Type,
        _ rawValue: (any Any.Type) -> Any?
    ) -> Raw? {
        (rawValue(Raw.RawValue.self) as? Raw.RawValue).flatMap { Raw(rawValue: $0) }
    }
}

extension ArgumentReader {
    /// Returns a passed value as the expected type; nil when the value is nil and the type is not an
    /// Optional.
    func fit<Value>(_ passed: Any, _ type: Value.Type) throws(RoutingError) -> Value? {
        // Return early for equal types. The casts below can turn nil into `.some(nil)`, and `.some(nil)` into
        // nil.
        if Swift.type(of: passed) == type { return passed as? Value }
        if let compound = type as? any CompoundArgument.Type {
            return try self.fitCompound(passed, compound, as: type)
        }
        if let value = passed as? Value {
            guard EncodedValues.isUnconstrained(type), let encoded = passed as? any EncodedValue else {
                return value
            }
            return encoded.plain as? Value
        }
        if Parameters.isNil(passed) { return nil }
        if let text = Parameters.givenText(passed) {
            guard let value = Self.parsed(text, as: type) ?? ScalarDecoder.value(text, as: type) else {
                throw self.mismatch(type, text)
            }
            return value
        }
        if let number = Parameters.exactNumber(passed, as: type) { return number }
        if let type = type as? any RawRepresentable.Type,
            let value = Self.raw(type, { Self.rawValue(passed, $0) }) as? Value
        {
            return value
        }
        if let value = EncodedValues.value(in: passed, as: type) { return value }
        if let value = ScalarDecoder.value(passed, as: type) { return value }
        throw self.mismatch(type, passed)
    }

    private func fitCompound<Compound: CompoundArgument, Value>(
        _ passed: Any,
        _ compound: Compound.Type,
        as type: Value.Type
    ) throws(RoutingError) -> Value? {
        guard let value = try compound.fit(passed, self) else { return nil }
        return value as? Value
    }

    /// Returns a passed value as the raw value of an enumeration.
    private static func rawValue(_ passed: Any, _ type: any Any.Type) -> Any? {
        func exact<Value>(_ type: Value.Type) -> Any? {
            Parameters.exactNumber(passed, as: type) ?? EncodedValues.value(in: passed, as: type)
        }
        return exact(type) ?? passed
    }
}

/// A type that consists of values of another type, such as an Optional or an array.
protocol CompoundArgument {
    /// The value of a missing parameter; nil when the parameter is required.
    static var absent: Self? { get }

    /// Whether a URL can contain values of the type.
    static var hasText: Bool { get }

    /// Returns the value from the path or the query, or nil when neither contains the name.
    static func read(_ reader: ArgumentReader) throws(RoutingError) -> Self?

    /// Converts a value of another type that was passed with the call.
    static func fit(_ passed: Any, _ reader: ArgumentReader) throws(RoutingError) -> Self?

    /// The text of the value in a URL.
    var text: ArgumentText { get }
}

extension Optional: CompoundArgument {
    static var absent: Self? { .some(nil) }

    static var hasText: Bool { ArgumentText.exists(for: Wrapped.self) }

    static func read(_ reader: ArgumentReader) throws(RoutingError) -> Self? {
        guard let wrapped = try reader.readText(Wrapped.self) else { return nil }
        return .some(wrapped)
    }

    static func fit(_ passed: Any, _ reader: ArgumentReader) throws(RoutingError) -> Self? {
        if let optional = passed as? any AnyOptional {
            if let content = optional.content { return try reader.fit(content, Self.self) }
            // As in an assignment, nil of a less nested Optional type becomes the inner nil, and not the
            // outermost nil.
            if type(of: optional).depth >= Self.depth { return .some(nil) }
        }
        guard let wrapped = try reader.fit(passed, Wrapped.self) else { return nil }
        return .some(wrapped)
    }

    var text: ArgumentText {
        guard let wrapped = self else { return .absent }
        let text = ArgumentText(wrapped)
        // If the URL omitted an inner nil, the handler would receive the outer nil.
        if case .absent = text { return .none }
        return text
    }
}

extension Array: CompoundArgument {
    static var absent: Self? { Self.canReadText ? [] : nil }

    /// Whether elements can be read from texts, possibly of a type that a URL cannot contain.
    private static var canReadText: Bool { Self.hasText || Element.self is any ScalarText.Type }

    static var hasText: Bool {
        !(Element.self is any ArrayArgument.Type) && ArgumentText.exists(for: Element.self)
    }

    static func read(_ reader: ArgumentReader) throws(RoutingError) -> Self? {
        let texts = reader.texts
        guard let first = texts.first else { return nil }
        guard Self.canReadText else { throw reader.mismatch(Self.self, first, isText: false) }
        var values: Self = []
        values.reserveCapacity(texts.count)
        for text in texts { values.append(try reader.element(text, Element.self)) }
        return values
    }

    static func fit(_ passed: Any, _ reader: ArgumentReader) throws(RoutingError) -> Self? {
        if let values = passed as? Self { return values }
        if let optional = passed as? any AnyOptional {
            guard let content = optional.content else { return nil }
            return try reader.fit(content, Self.self)
        }
        if let encoded = passed as? any EncodedValue {
            // If the array cannot be decoded as a whole, read the array element by element, like values of a
            // URL.
            if let values = EncodedValues.value(in: encoded, as: Self.self) { return values }
            let plain = encoded.plain
            if plain is any ArrayArgument, let values = try? reader.fit(plain, Self.self) { return values }
            guard plain is any Numeric else { throw reader.mismatch(Self.self, passed) }
        }
        guard let array = passed as? any ArrayArgument else {
            // Read a single value as an array with one element, like a single query item.
            guard Self.canReadText else { throw reader.mismatch(Self.self, passed) }
            return try reader.fit(passed, Element.self).map { [$0] }
        }
        var values: Self = []
        for element in array.contents {
            guard let value = try? reader.fit(element, Element.self) else {
                throw reader.mismatch(Self.self, passed)
            }
            values.append(value)
        }
        return values
    }

    var text: ArgumentText {
        guard Self.hasText else { return .none }
        if self.isEmpty { return .absent }
        var texts: [String] = []
        for element in self {
            guard case .one(let text) = ArgumentText(element) else { return .none }
            texts.append(text)
        }
        return .several(texts)
    }
}

/// An array with elements of any type.
private protocol ArrayArgument {
    var contents: [Any] { get }
}

extension Array: ArrayArgument {
    fileprivate var contents: [Any] { self.map { $0 as Any } }
}
