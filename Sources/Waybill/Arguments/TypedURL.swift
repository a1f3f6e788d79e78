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
    private let pattern: String
    private var texts: [(name: String, text: String)] = []

    /// What is passed with the call, since it has no text.
    public private(set) var parameters: [String: any Sendable] = [:]

    /// Begins a URL for a pattern.
    ///
    /// - Parameter pattern: where to; ``with(_:_:hasDefault:)-(_,Parameter,_)`` fills in its placeholders,
    ///   and makes a query of the rest.
    public init(_ pattern: String) { self.pattern = pattern }

    /// The URL.
    ///
    /// - Throws: `invalidPattern`, `missingParameter`, or `invalidParameter` for a value that the pattern
    ///   would not give back.
    public func text() throws(RoutingError) -> String {
        let pattern = try RoutePattern(self.pattern)
        let named = Set(pattern.parameters.map(\.name))
        var path: [String: String] = [:]
        var query: [String] = []
        for (name, text) in self.texts {
            if named.contains(name) {
                if path.updateValue(text, forKey: name) != nil { throw self.tooMany(name) }
            } else {
                query.append("\(Address.encode(name))=\(Address.encode(text))")
            }
        }
        let url = try pattern.url(with: path)
        return query.isEmpty ? url : "\(url)?\(query.joined(separator: "&"))"
    }

    private func tooMany(_ name: String) -> RoutingError {
        let count = self.texts.count { $0.name == name }
        return RoutingError(
            .invalidParameter,
            url: self.pattern,
            message:
                "expected one value, since `\(name)` is in the path of \(self.pattern), but there are \(count)"
        )
    }

    func adding(_ name: String, _ text: String) -> Self {
        var result = self
        result.texts.append((name, text))
        return result
    }

    /// The value as it is: nil is a value like any other here.
    func passing(_ name: String, _ value: any Sendable) -> Self {
        var result = self
        result.parameters[name] = value
        return result
    }
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

extension MessageBus {
    /// Routes a URL whose parameters the compiler has checked, and waits for the reply's value.
    ///
    /// - Parameters:
    ///   - url: where to.
    ///   - headers: text for the infrastructure, beside the parameters.
    ///   - deadline: when to stop waiting; inside a handler, the deadline of its message holds too.
    ///   - timeout: how long to wait, by the bus's clock; of deadline and timeout the earlier one holds, and
    ///     a timeout that is not positive is up at once.
    /// - Returns: what the handler returned.
    /// - Throws: what ``route(_:as:)`` throws, and `invalidParameter` for a value that cannot stand in the
    ///   URL.
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
            let request = Request(error.url, url.parameters, headers, by: self.core.time)
            self.core.deadLetter(request, self.core.open(), error)
        }
    }
}
