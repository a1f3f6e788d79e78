internal import WaybillRouting

/// A type whose values are made of values of another type, each of which may stand in a URL.
protocol CompoundArgument {
    /// The value that stands for a parameter that is missing; nil if there is none.
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
