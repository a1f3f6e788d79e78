internal import WaybillRouting

/// A URL in the making: a pattern, and the values that fill it in.
///
/// A pattern without placeholders, as most are that have their values in the query, is the URL already, and
/// grows by each value.
@usableFromInline
struct URLDraft: Sendable {
    @usableFromInline let pattern: String
    /// Whether the pattern is a URL.
    @usableFromInline let isURL: Bool
    /// The URL with the parameters that have been added so far.
    private var text: String
    private var hasQuery = false
    /// Where the fragment of the URL begins, in bytes, if it has one.
    private var fragment: Int?
    /// What few URLs have, behind one reference: an empty array and an empty dictionary are counted as well.
    @usableFromInline var rest: Rest?

    /// What cannot be added to a URL at once.
    @usableFromInline
    indirect enum Rest: Sendable {
        /// The values for the general way, which looks at the pattern when all are there, and what is passed
        /// with the call, since it has no text.
        case of([(name: String, text: String)], passed: [String: any Sendable])
    }

    private var values: [(name: String, text: String)] {
        if case .of(let values, _) = self.rest { values } else { [] }
    }

    /// What is passed with the call, since it has no text.
    var parameters: [String: any Sendable] {
        if case .of(_, let passed) = self.rest { passed } else { [:] }
    }

    @usableFromInline
    init(_ pattern: String) {
        self.pattern = pattern
        self.text = pattern
        self.isURL = PlainPattern.isURL(pattern)
        self.scan(pattern)
    }

    /// Begins with a pattern that is a URL, as its caller knows.
    @usableFromInline
    init(url: String) {
        self.pattern = url
        self.text = url
        self.isURL = true
        self.scan(url)
    }

    /// Looks for the query and the fragment of a URL.
    private mutating func scan(_ url: String) {
        let bytes = url.utf8.span
        for offset in bytes.indices {
            switch bytes[offset] {
            case UInt8(ascii: "?"): self.hasQuery = true
            case UInt8(ascii: "#"):
                self.fragment = offset
                return
            default: break
            }
        }
    }

    /// Adds a parameter that has a text.
    @usableFromInline
    mutating func add(_ name: String, _ text: String) {
        if self.isURL {
            self.append(Address.encode(name), Address.encode(text))
        } else {
            self.rest = .of(self.values + [(name, text)], passed: self.parameters)
        }
    }

    /// Adds a value of any type.
    @usableFromInline
    mutating func add<Parameter: Sendable>(_ name: String, _ value: Parameter, hasDefault: Bool) {
        switch ArgumentText(value) {
        case .one(let text): self.add(name, text)
        case .several(let texts): for text in texts { self.add(name, text) }
        case .absent where !hasDefault: return
        case .absent, .none: self.pass(name, value)
        }
    }

    /// Passes a value as it is: nil is a value like any other here.
    private mutating func pass(_ name: String, _ value: any Sendable) {
        self.rest = .of(self.values, passed: self.parameters.merging([name: value]) { $1 })
    }

    /// Adds a value unless it is nil.
    mutating func add<Parameter: Sendable>(_ name: String, optional value: Parameter?, hasDefault: Bool) {
        guard let content = value else {
            if hasDefault { self.pass(name, value) }
            return
        }
        switch ArgumentText(content) {
        case .one(let text): self.add(name, text)
        case .several(let texts): for text in texts { self.add(name, text) }
        case .absent, .none:
            // Of an Optional inside an Optional, the type says how deep nil is.
            if content is any AnyOptional { self.pass(name, value) } else { self.pass(name, content) }
        }
    }

    /// Appends an item to the query, which is before the fragment.
    private mutating func append(_ name: String, _ value: String) {
        let mark = self.hasQuery ? "&" : "?"
        self.hasQuery = true
        guard let end = self.fragment else {
            self.text.reserveCapacity(self.text.utf8.count + name.utf8.count + value.utf8.count + 2)
            self.text += mark
            self.text += name
            self.text += "="
            self.text += value
            return
        }
        let item = "\(mark)\(name)=\(value)"
        self.text.insert(contentsOf: item, at: self.text.utf8.index(self.text.startIndex, offsetBy: end))
        self.fragment = end + item.utf8.count
    }

    /// Returns the URL with all parameters that have a text.
    ///
    /// - Throws: `invalidPattern`, `missingParameter`, or `invalidParameter` for a value that the pattern
    ///   would not give back.
    @usableFromInline
    func url() throws(RoutingError) -> String {
        if self.isURL { return self.text }
        if let url = PlainPattern.url(self.pattern, self.values) { return url }
        let pattern = try RoutePattern(self.pattern)
        let named = Set(pattern.parameters.map(\.name))
        var path: [String: String] = [:]
        var query: [String] = []
        for (name, text) in self.values {
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
        let count = self.values.count { $0.name == name }
        return RoutingError(
            .invalidParameter,
            url: self.pattern,
            message:
                "expected one value, since `\(name)` is in the path of \(self.pattern), but there are \(count)"
        )
    }
}
