/// A URL whose parameters and reply type the compiler checks.
///
/// For each method, `@Route` generates a function that builds a typed URL:
///
/// ```swift
/// let user = try await bus.route(UserModule.urls.detail(uid: 1))    // a User
/// ```
///
/// The bus routes the message by its ``text()``, like any other message. Values without a text, for example
/// closures, are passed with the call.
public struct TypedURL<Value>: Sendable {
    @usableFromInline package var draft: URLDraft

    /// Creates a URL from a pattern.
    ///
    /// - Parameter pattern: The pattern of the destination. ``with(_:_:hasDefault:)-(_,Parameter,_)`` fills
    ///   in the placeholders, and adds other parameters to the query.
    @inlinable
    public init(_ pattern: String) { self.draft = URLDraft(pattern) }

    /// Creates a URL that needs no values in its path.
    ///
    /// `@Route` uses this initializer for a pattern without placeholders. The macro has checked the pattern
    /// at compile time, so the initializer does not check it again.
    ///
    /// - Parameter url: The destination, without placeholders. ``with(_:_:hasDefault:)-(_,Parameter,_)`` adds
    ///   parameters to the query.
    @inlinable
    public init(url: String) { self.draft = URLDraft(url: url) }

    /// Whether all values are already in the text.
    ///
    /// A caller in another module that read the property of the draft would copy the draft.
    @usableFromInline package var isText: Bool { self.draft.rest == nil }

    /// The values that have no text and are passed with the call.
    public var parameters: [String: any Sendable] { self.draft.parameters }

    /// Returns the URL as text.
    ///
    /// If the pattern has no scheme, the URL has none either, and gets the default scheme of the bus.
    ///
    /// - Throws: `invalidPattern`, `missingParameter`, or `invalidParameter` for a value that the pattern
    ///   would not extract unchanged from the URL.
    public func text() throws(RoutingError) -> String { try self.draft.url() }
}

extension TypedURL {
    /// Returns the URL with one more parameter.
    ///
    /// A value with a text is written into the URL: a `LosslessStringConvertible` value, a ``URLParameter``,
    /// a value whose raw value is `LosslessStringConvertible`, or an array of these values. Nil and an empty
    /// array are omitted when the handler receives the same value for a missing parameter. Any other value,
    /// for example a closure, a structure or an array that contains nil, is passed with the call.
    ///
    /// - Parameters:
    ///   - name: The name of the parameter.
    ///   - value: The value of the parameter. An existential is opened, unless it is written `value as any
    ///     Sendable`.
    ///   - hasDefault: Whether the handler has a default for a missing value. Nil and an empty array must
    ///     then be passed with the call.
    /// - Returns: The URL.
    @inlinable
    public consuming func with<Parameter: Sendable>(
        _ name: String,
        _ value: Parameter,
        hasDefault: Bool = false
    ) -> Self {
        // The compiler removes these casts when the function is inlined and the type is known.
        if Parameter.self == Int.self, let number = value as? Int {
            self.draft.addNumber(name, number)
        } else if Parameter.self == String.self, let text = value as? String {
            self.draft.addText(name, text)
        } else {
            self.draft.addValue(name, value, hasDefault: hasDefault)
        }
        return self
    }

    /// Returns the URL with one more parameter, or unchanged when the value is nil and the handler has no
    /// default.
    ///
    /// - Parameters:
    ///   - name: The name of the parameter.
    ///   - value: The value of the parameter. An empty array is passed with the call, because the handler
    ///     would otherwise receive nil.
    ///   - hasDefault: Whether the handler has a default for a missing value. Nil must then be passed with
    ///     the call.
    /// - Returns: The URL.
    public consuming func with<Parameter: Sendable>(
        _ name: String,
        _ value: Parameter?,
        hasDefault: Bool = false
    ) -> Self {
        self.draft.addOptional(name, value, hasDefault: hasDefault)
        return self
    }
}
