extension Parameters {
    /// Returns a required value of a type.
    ///
    /// - Throws: ``RoutingError/Code/missingParameter`` when no value has the name, and
    ///   ``RoutingError/Code/invalidParameter`` when the value cannot be converted to `Value`.
    @inlinable
    public func require<Value: LosslessStringConvertible>(
        _ name: String,
        as type: Value.Type = Value.self
    ) throws(RoutingError) -> Value {
        guard let value = try self.value(name, as: type) else { throw self.missing(name, type) }
        return value
    }

    /// Returns a value of a type, or nil when no value has the name.
    ///
    /// - Throws: ``RoutingError/Code/invalidParameter`` when the value cannot be converted to `Value`.
    @inlinable
    public func value<Value: LosslessStringConvertible>(
        _ name: String,
        as type: Value.Type = Value.self
    ) throws(RoutingError) -> Value? {
        if Value.self == Int.self {
            switch self.readInt(name) {
            // The compiler removes this cast of the number. The compiler would not remove a cast of the
            // optional.
            case .number(let number): if let value = number as? Value { return value }
            case .missing: return nil
            case .needsText: break
            }
        }
        return try self.readText(name, as: type)
    }

    /// Reads a value of any type that can be initialised from text.
    @inlinable
    @inline(never)
    func readText<Value: LosslessStringConvertible>(
        _ name: String,
        as type: Value.Type
    ) throws(RoutingError) -> Value? {
        let text: String
        if let passed = self.passedValue(name) {
            if let value = passed as? Value { return value }
            if Self.isNil(passed) { return nil }
            guard let given = Self.givenText(passed) else {
                if let number = Self.exactNumber(passed, as: type) { return number }
                if let value = Self.decoded(passed, as: type) { return value }
                throw self.mismatch(name, type: type, value: passed)
            }
            text = given
        } else {
            guard let location = self.locate(name) else { return nil }
            text = self.text(at: location)
        }
        if let value = Self.value(of: text, as: type) { return value }
        throw self.mismatch(name, type: type, value: text)
    }

    /// Returns the value that a text represents in the route language, or nil.
    @inlinable
    package static func value<Value: LosslessStringConvertible>(
        of text: String,
        as type: Value.Type
    ) -> Value? {
        // The initializer of `Character` traps if the text is empty or has several characters.
        if Value.self == Character.self, text.isEmpty || !text.dropFirst().isEmpty { return nil }
        return Value.self == Bool.self ? self.bool(text) as? Value : Value(text)
    }

    /// Returns the Boolean that a text represents in the route language, or nil.
    @usableFromInline
    static func bool(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "true", "1": true
        case "false", "0": false
        default: nil
        }
    }
}

/// The fast path for `Int`, the most common type.
///
/// It parses the bytes of the URL without creating a `String`.
extension Parameters {
    /// The result of the fast path.
    @usableFromInline
    enum IntReading: Equatable {
        case number(Int)
        /// No value has the name.
        case missing
        /// The general path must read the value, because the value is not a plain number or was passed with
        /// the call.
        case needsText
    }

    @usableFromInline
    func readInt(_ name: String) -> IntReading {
        if let passed, let reading = passed.reading(name) { return reading }
        if let names = self.names, !names.isTrivial { return self.readNamedInt(name, names) }
        if self.layout.hasEscapes { return .needsText }
        let bytes = self.text.utf8.span
        let range = UnescapedQuery.value(of: name.utf8.span, in: bytes, self.layout)
        if range == URLRange() { return .missing }
        return Self.reading(bytes, range)
    }

    private static func reading(_ bytes: Span<UInt8>, _ range: URLRange) -> IntReading {
        let (start, end) = (range.start, range.end)
        guard
            let number = Decimal.digits(bytes, start: start, end: end)
                ?? Decimal.int(bytes, start: start, end: end)
        else {
            return .needsText
        }
        return .number(number)
    }

    /// Reads a number that may come from the path.
    @inline(never)
    private func readNamedInt(_ name: String, _ names: ParameterNames) -> IntReading {
        guard let location = self.locate(name) else { return .missing }
        return Self.reading(self.text.utf8.span, location.range)
    }
}

/// Conversion of values that are passed with the call.
extension Parameters {
    /// Returns the text of a passed value; nil if the value is not text.
    ///
    /// The description of a value is not used, because a description is not a value.
    @usableFromInline
    package static func givenText(_ passed: Any) -> String? {
        passed as? String ?? (passed as? Substring).map { String($0) }
    }

    /// Returns a passed value that was received as bytes, decoded as a type.
    @usableFromInline
    static func decoded<Value>(_ passed: any Sendable, as type: Value.Type) -> Value? {
        EncodedValues.value(in: passed, as: type)
    }

    /// Returns a passed integer as another numeric type, if that type can represent it exactly.
    @usableFromInline
    package static func exactNumber<Value>(_ passed: Any, as type: Value.Type) -> Value? {
        guard let number = passed as? any BinaryInteger, let type = type as? any Numeric.Type
        else { return nil }
        return self.exactNumber(number, as: type) as? Value
    }

    private static func exactNumber<Number: Numeric>(_ number: some BinaryInteger, as: Number.Type) -> Number?
    {
        Number(exactly: number)
    }

    /// Returns whether a passed value is an optional without a value.
    ///
    /// A passed nil takes precedence over a value of the URL. If the expected type is not an optional, the
    /// parameter counts as missing. A passed nil is not the text "nil".
    @usableFromInline
    package static func isNil(_ value: Any) -> Bool { (value as? any AnyOptional)?.isNil ?? false }
}

/// Errors that contain the expected type and the actual value.
extension Parameters {
    /// Returns the error for a parameter without a value: `missingParameter`.
    @usableFromInline
    @inline(never)
    package func missing(_ name: String, _ type: any Any.Type) -> RoutingError {
        let isNil = self.passedValue(name).map { Self.isNil($0) } ?? false
        let found = isNil ? "`\(name)` is nil" : "there is no parameter `\(name)`"
        return self.error(.missingParameter, type: type, found: found)
    }

    /// Returns the error for a value that does not have the expected type: `invalidParameter`.
    ///
    /// - Parameters:
    ///   - name: The parameter's name.
    ///   - type: The expected type.
    ///   - value: The value. The message contains the value if it is text, a number or a Boolean.
    ///   - isText: Whether a URL could contain a value of the type.
    /// - Returns: The error.
    @usableFromInline
    @inline(never)
    package func mismatch(
        _ name: String,
        type: any Any.Type,
        value: Any,
        isText: Bool = true
    ) -> RoutingError {
        let found = "`\(name)` is \(Self.shown(value))"
        return self.error(
            .invalidParameter,
            type: type,
            found: isText ? found : "\(found): pass the value with the call"
        )
    }

    private func error(_ code: RoutingError.Code, type: any Any.Type, found: String) -> RoutingError {
        let cases = (type as? any CaseIterable.Type).map { Self.cases(of: $0) } ?? ""
        let message = "expected \(TypeName.of(type))\(cases), but \(found)"
        return RoutingError(code, url: self.url, message: message)
    }

    private static func shown(_ value: Any) -> String {
        if self.isNil(value) { return "nil" }
        if let text = self.givenText(value) {
            return "String \"\(text.onShortLine)\""
        }
        if let encoded = value as? any EncodedValue { return encoded.kind }
        let type = TypeName.of(Swift.type(of: value))
        return value is any Numeric || value is Bool ? "\(type) \(value)" : type
    }

    /// Returns the texts of an enumeration's cases in parentheses.
    ///
    /// The result is empty if the cases have no texts or if there are more than 20 cases.
    private static func cases<Value: CaseIterable>(of type: Value.Type) -> String {
        let texts = type.allCases.prefix(21).compactMap { self.text(ofCase: $0) }
        guard let last = texts.last, texts.count <= 20 else { return "" }
        let others = texts.dropLast().joined(separator: ", ")
        return others.isEmpty ? " (\(last))" : " (\(others) or \(last))"
    }

    private static func text(ofCase value: Any) -> String? {
        if let value = value as? any LosslessStringConvertible { return value.description }
        guard let value = value as? any RawRepresentable else { return nil }
        return (value.rawValue as? any LosslessStringConvertible)?.description
    }
}
