public import WaybillRouting

/// A URL whose parameters the compiler has checked, and that knows the type of its reply.
///
/// `@Route` makes a function for each method that builds one:
///
/// ```swift
/// let user = try await bus.route(UserModule.urls.detail(uid: 1))    // a User
/// ```
///
/// The message travels as any other, by its ``text()``; what has no text, a closure for instance, goes with
/// the call.
public struct TypedURL<Value>: Sendable {
    @usableFromInline var draft: URLDraft

    /// Begins a URL for a pattern.
    ///
    /// - Parameter pattern: where to; ``with(_:_:hasDefault:)-(_,Parameter,_)`` fills in its placeholders,
    ///   and makes a query of the rest.
    @inlinable
    public init(_ pattern: String) { self.draft = URLDraft(pattern) }

    /// Begins with a URL that needs no values in its path.
    ///
    /// `@Route` writes it where the compiler has seen that the pattern is such a URL, which is not looked at
    /// again.
    ///
    /// - Parameter url: where to, without placeholders; ``with(_:_:hasDefault:)-(_,Parameter,_)`` adds to its
    ///   query.
    @inlinable
    public init(url: String) { self.draft = URLDraft(url: url) }

    /// What is passed with the call, since it has no text.
    public var parameters: [String: any Sendable] { self.draft.parameters }

    /// The URL.
    ///
    /// - Throws: `invalidPattern`, `missingParameter`, or `invalidParameter` for a value that the pattern
    ///   would not give back.
    public func text() throws(RoutingError) -> String { try self.draft.url() }
}

extension TypedURL {
    /// The URL with one parameter more.
    ///
    /// What has a text stands in the URL: a `LosslessStringConvertible` value, a ``URLParameter``, one with
    /// such a raw value, and an array of these. Nil and an empty array are left out where they arrive all the
    /// same. Everything else is passed with the call: a closure, a structure, an array in which there is nil.
    ///
    /// - Parameters:
    ///   - name: the name of the parameter.
    ///   - value: its value; an existential is opened, unless it is written `value as any Sendable`.
    ///   - hasDefault: whether the handler has a default for a missing value, so that nil and an empty array
    ///     are passed.
    /// - Returns: the URL.
    @inlinable
    public consuming func with<Parameter: Sendable>(
        _ name: String,
        _ value: Parameter,
        hasDefault: Bool = false
    ) -> Self {
        // Inlined, where the type is known, these are no casts.
        if Parameter.self == Int.self, let number = value as? Int {
            self.draft.add(name, number.description)
        } else if Parameter.self == String.self, let text = value as? String {
            self.draft.add(name, text)
        } else {
            self.draft.add(name, value, hasDefault: hasDefault)
        }
        return self
    }

    /// The URL with one parameter more, unless it is nil.
    ///
    /// - Parameters:
    ///   - name: the name of the parameter.
    ///   - value: its value; an empty array is passed with the call, since left out it would arrive as nil.
    ///   - hasDefault: whether the handler has a default for a missing value, so that nil is passed.
    /// - Returns: the URL.
    public consuming func with<Parameter: Sendable>(
        _ name: String,
        _ value: Parameter?,
        hasDefault: Bool = false
    ) -> Self {
        self.draft.add(name, optional: value, hasDefault: hasDefault)
        return self
    }
}

extension MessageBus {
    /// Routes a URL whose parameters the compiler has checked, and waits for the reply's value.
    ///
    /// - Parameter url: where to.
    /// - Returns: what the handler returned.
    /// - Throws: what ``route(_:as:)`` throws, and `invalidParameter` for a value that cannot stand in the
    ///   URL.
    @inlinable
    public nonisolated(nonsending) func route<Value: Sendable>(
        _ url: TypedURL<Value>
    ) async throws(RoutingError) -> Value {
        if url.draft.rest == nil { return try await self.route(url.text(), as: Value.self) }
        return try await self.route(url.text(), parameters: url.parameters, as: Value.self)
    }

    /// Routes a typed URL with headers or a deadline, and waits for the reply's value.
    ///
    /// - Parameters:
    ///   - url: where to.
    ///   - headers: text for the infrastructure, beside the parameters.
    ///   - deadline: when to stop waiting; inside a handler, the deadline of its message holds too.
    ///   - timeout: how long to wait, by the bus's clock; of deadline and timeout the earlier one holds, and
    ///     a timeout that is not positive is up at once.
    /// - Returns: what the handler returned.
    /// - Throws: what ``route(_:)-(TypedURL<Value>)`` throws.
    public nonisolated(nonsending) func route<Value: Sendable>(
        _ url: TypedURL<Value>,
        headers: [String: String] = [:],
        deadline: ContinuousClock.Instant? = nil,
        timeout: Duration? = nil
    ) async throws(RoutingError) -> Value {
        try await self.route(
            url.text(),
            parameters: url.parameters,
            headers: headers,
            deadline: deadline,
            timeout: timeout,
            as: Value.self
        )
    }

    /// Sends a message that no caller awaits to such a URL.
    ///
    /// A value that cannot be written in a URL makes it a dead letter, as any other failure does.
    public func send<Value>(_ url: TypedURL<Value>, headers: [String: String] = [:]) {
        do throws(RoutingError) {
            self.send(try url.text(), parameters: url.parameters, headers: headers)
        } catch {
            let request = Request(
                url: error.url,
                parameters: url.parameters,
                headers: headers,
                by: self.core.time
            )
            self.core.fail(request, error, for: .nobody)
        }
    }
}
