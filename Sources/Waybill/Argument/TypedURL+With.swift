internal import WaybillRouting

extension TypedURL {
    /// The URL with one parameter more.
    ///
    /// What has a text stands in the URL: a `LosslessStringConvertible` value, a ``URLParameter``, one with such a raw value,
    /// and an array of these. Nil and an empty array are left out where they arrive all the same. Everything else is passed
    /// with the call: a closure, a structure, an array in which there is nil.
    ///
    /// - Parameters:
    ///   - name: the name of the parameter.
    ///   - value: its value; an existential is opened, unless it is written `value as any Sendable`.
    ///   - hasDefault: whether the handler has a default for a missing value, so that nil and an empty array are passed.
    /// - Returns: the URL.
    public func with<Parameter: Sendable>(
        _ name: String,
        _ value: Parameter,
        hasDefault: Bool = false
    ) -> Self {
        switch ArgumentText(value) {
        case .one(let text): self.adding(name, text)
        case .several(let texts): texts.reduce(self) { $0.adding(name, $1) }
        case .absent where !hasDefault: self
        case .absent, .none: self.passing(name, value)
        }
    }

    /// The URL with one parameter more, unless it is nil.
    ///
    /// - Parameters:
    ///   - name: the name of the parameter.
    ///   - value: its value; an empty array is passed with the call, since left out it would arrive as nil.
    ///   - hasDefault: whether the handler has a default for a missing value, so that nil is passed.
    /// - Returns: the URL.
    public func with<Parameter: Sendable>(
        _ name: String,
        _ value: Parameter?,
        hasDefault: Bool = false
    ) -> Self {
        guard let content = value else { return hasDefault ? self.passing(name, value) : self }
        switch ArgumentText(content) {
        case .one(let text): return self.adding(name, text)
        case .several(let texts): return texts.reduce(self) { $0.adding(name, $1) }
        case .absent, .none:
            // Of an Optional inside an Optional, the type says how deep nil is.
            return content is any AnyOptional ? self.passing(name, value) : self.passing(name, content)
        }
    }
}
