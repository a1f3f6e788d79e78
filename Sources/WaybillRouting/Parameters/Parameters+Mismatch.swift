/// The errors about a parameter: the type that is expected, and what there is instead.
extension Parameters {
    /// The error about a parameter that is not there: `missingParameter`.
    @usableFromInline
    @inline(never)
    package func missing(_ name: String, _ type: any Any.Type) -> RoutingError {
        let isNil = self.call[name].map { Self.isNil($0) } ?? false
        let found = isNil ? "`\(name)` is nil" : "there is no parameter `\(name)`"
        return self.error(.missingParameter, type, found)
    }

    /// The error about a parameter that is of another type: `invalidParameter`.
    ///
    /// - Parameters:
    ///   - name: the parameter's name.
    ///   - type: the type that is expected.
    ///   - value: what there is; its text is shown if it is text, a number or a truth value.
    ///   - isText: whether a URL could give a value of the type.
    /// - Returns: the error.
    @usableFromInline
    @inline(never)
    package func mismatch(
        _ name: String,
        _ type: any Any.Type,
        _ value: Any,
        isText: Bool = true
    ) -> RoutingError {
        let found = "`\(name)` is \(Self.shown(value))"
        return self.error(.invalidParameter, type, isText ? found : "\(found): pass the value with the call")
    }

    private func error(_ code: RoutingError.Code, _ type: any Any.Type, _ found: String) -> RoutingError {
        let cases = (type as? any CaseIterable.Type).map { Self.cases(of: $0) } ?? ""
        let message = "expected \(TypeName.of(type))\(cases), but \(found)"
        return RoutingError(code, url: self.url, message: message)
    }

    private static func shown(_ value: Any) -> String {
        if self.isNil(value) { return "nil" }
        if let text = self.givenText(value) {
            return "String \"\(text.onShortLine)\""
        }
        let type = TypeName.of(Swift.type(of: value))
        return value is any Numeric || value is Bool ? "\(type) \(value)" : type
    }

    /// The texts of an enumeration's cases in brackets, if there are texts, and few enough to read.
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
