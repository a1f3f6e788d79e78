internal import WaybillRouting

/// A URL whose parameters the compiler has checked, and that knows the type of its reply.
///
/// `@Route` makes a function for each method that builds one:
///
/// ```swift
/// let user = try await bus.route(UserModule.urls.detail(uid: 1))    // a User
/// ```
///
/// The message travels as any other, by its ``text()``; what has no text, a closure for instance, goes with the call.
public struct TypedURL<Value: Sendable>: Sendable {
    private let pattern: String
    private var texts: [(name: String, text: String)] = []

    /// What is passed with the call, since it has no text.
    public private(set) var parameters: [String: any Sendable] = [:]

    /// Begins a URL for a pattern.
    ///
    /// - Parameter pattern: where to; ``with(_:_:hasDefault:)-(_,Parameter,_)`` fills in its placeholders, and makes a query of the rest.
    public init(_ pattern: String) { self.pattern = pattern }

    /// The URL.
    ///
    /// - Throws: `invalidPattern`, `missingParameter`, or `invalidParameter` for a value that the pattern would not give
    ///   back.
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
