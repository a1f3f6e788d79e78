public import WaybillRouting

// What `@Route` writes for each parameter of a method.
extension Message {
    /// A parameter, as the type that is needed here.
    ///
    /// ```swift
    /// users.detail(uid: try message.argument("uid"))
    /// ```
    ///
    /// The type says how the value is found:
    /// - what is made from text (`LosslessStringConvertible`, ``URLParameter``, or a type with such a raw
    ///   value) in the call, the path or the query;
    /// - an array of these likewise, with an element for each item of the name; it is empty if there is none;
    /// - any other type in the call alone: a structure, a closure, an actor;
    /// - an Optional as what it wraps, and nil if there is none.
    ///
    /// A value that was passed with the call arrives as it was passed. Its description is never read: a
    /// number is no `String`. Since what was passed is `Sendable` whatever its type here is, the type need
    /// not be.
    ///
    /// - Parameter name: the name of the parameter.
    /// - Returns: the value.
    /// - Throws: `missingParameter`, or `invalidParameter` with the type that is expected and what there is
    ///   instead.
    @inlinable
    public func argument<Value>(_ name: String) throws(RoutingError) -> Value {
        // The compiler knows these types where the function is called, and does away with the questions and
        // the casts.
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
        return try self.readArgument(name)
    }

    /// A parameter that is an Optional and has a default.
    ///
    /// Use it where `?? value` does not do: nil that is passed arrives as nil, and is not a missing value.
    ///
    /// - Parameters:
    ///   - name: the name of the parameter.
    ///   - value: the value to use for a missing one.
    /// - Returns: the value that the message holds, or the other.
    /// - Throws: `invalidParameter` with the type that is expected and what there is instead.
    public func argument<Value>(
        _ name: String,
        default value: @autoclosure () -> Value?
    ) throws(RoutingError) -> Value? {
        try ArgumentReader(self.parameters, name).read(Value?.self) ?? value()
    }

    @usableFromInline
    func readArgument<Value>(_ name: String) throws(RoutingError) -> Value {
        if let value = try ArgumentReader(self.parameters, name).read(Value.self) { return value }
        guard let compound = Value.self as? any CompoundArgument.Type,
            let value = Self.absent(compound, as: Value.self)
        else { throw self.parameters.missing(name, Value.self) }
        return value
    }

    private static func absent<Compound: CompoundArgument, Value>(
        _ type: Compound.Type,
        as: Value.Type
    ) -> Value? {
        // A cast of the value itself: through `Any`, nil would become `.some(nil)`.
        guard let value = type.absent else { return nil }
        return value as? Value
    }
}

/// Reads a parameter of a message as a value of any type.
///
/// A value that was passed with the call counts first, and is never read through its description. What the
/// path and the query say is read by what the type conforms to: ``URLParameter``,
/// `LosslessStringConvertible`, or `RawRepresentable` by a raw value that does; an Optional or an array of
/// such reads what it is made of.
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
        if let passed = self.parameters.passedValue(self.name) { return try self.fit(passed, type) }
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
        guard let value = Self.value(of: text, type) ?? ScalarDecoder.value(text, as: type) else {
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
        if let value = passed as? Value {
            guard EncodedValues.isUnconstrained(type), let encoded = passed as? any EncodedValue else {
                return value
            }
            return encoded.plain as? Value
        }
        if Parameters.isNil(passed) { return nil }
        if let text = Parameters.givenText(passed) {
            guard let value = Self.value(of: text, type) ?? ScalarDecoder.value(text, as: type) else {
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

/// A type whose values are made of values of another type, each of which may stand in a URL.
protocol CompoundArgument {
    /// The value to use for a missing parameter; nil if there is none.
    static var absent: Self? { get }

    /// Whether a URL can give values of the type.
    static var hasText: Bool { get }

    /// The value that the path or the query gives; nil if they give none.
    static func read(_ reader: ArgumentReader) throws(RoutingError) -> Self?

    /// A value that was passed with the call, of another type than this one.
    static func fit(_ passed: Any, _ reader: ArgumentReader) throws(RoutingError) -> Self?

    /// The value as it stands in a URL.
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
            // As in an assignment, nil of a type that is not as deep is nil inside.
            if type(of: optional).depth >= Self.depth { return .some(nil) }
        }
        guard let wrapped = try reader.fit(passed, Wrapped.self) else { return nil }
        return .some(wrapped)
    }

    var text: ArgumentText {
        guard let wrapped = self else { return .absent }
        let text = ArgumentText(wrapped)
        // Left out, it would arrive as nil.
        if case .absent = text { return .none }
        return text
    }
}

extension Array: CompoundArgument {
    static var absent: Self? { Self.hasText ? [] : nil }

    static var hasText: Bool {
        !(Element.self is any ArrayArgument.Type) && ArgumentText.exists(for: Element.self)
    }

    static func read(_ reader: ArgumentReader) throws(RoutingError) -> Self? {
        let texts = reader.texts
        guard let first = texts.first else { return nil }
        guard Self.hasText else { throw reader.mismatch(Self.self, first, isText: false) }
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
            // What cannot be decoded as a whole may be read element by element, as values of the URL are.
            if let values = EncodedValues.value(in: encoded, as: Self.self) { return values }
            guard encoded.plain is any ArrayArgument, let values = try? reader.fit(encoded.plain, Self.self)
            else { throw reader.mismatch(Self.self, passed) }
            return values
        }
        guard let array = passed as? any ArrayArgument else {
            // One value is an array of one, as one item of a query is.
            guard Self.hasText else { throw reader.mismatch(Self.self, passed) }
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

/// An array, whatever its elements are.
private protocol ArrayArgument {
    var contents: [Any] { get }
}

extension Array: ArrayArgument {
    fileprivate var contents: [Any] { self.map { $0 as Any } }
}
