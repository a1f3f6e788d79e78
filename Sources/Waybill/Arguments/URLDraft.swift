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
    /// The URL with what has been added so far; nil if that is nothing, or the number.
    private var text: String?
    /// A number that is the first value and is not part of the text yet, if its name is not empty: most URLs
    /// have no other value, and are put together at once.
    @usableFromInline var name = ""
    @usableFromInline var number = 0
    @usableFromInline var isEmpty = true
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
        self.isURL = PlainPattern.isURL(pattern)
    }

    /// Begins with a pattern that is a URL, as its caller knows.
    @usableFromInline
    init(url: String) {
        self.pattern = url
        self.isURL = true
    }

    /// Adds a number.
    @inlinable
    @inline(__always)
    mutating func add(_ name: String, _ number: Int) {
        if self.isEmpty, self.isURL {
            self.name = name
            self.number = number
            self.isEmpty = false
        } else {
            self.write(name, number)
        }
    }

    @usableFromInline
    @inline(never)
    mutating func write(_ name: String, _ number: Int) {
        self.writeFirst()
        self.append(name, number.description)
    }

    /// Makes the first number a part of the text.
    private mutating func writeFirst() {
        self.isEmpty = false
        guard !self.name.isEmpty else { return }
        let name = self.name
        self.name = ""
        self.append(name, self.number.description)
    }

    /// Adds a text.
    @usableFromInline
    mutating func add(_ name: String, _ text: String) {
        self.writeFirst()
        self.append(name, text)
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

    private mutating func append(_ name: String, _ text: String) {
        guard self.isURL else {
            self.rest = .of(self.values + [(name, text)], passed: self.parameters)
            return
        }
        let url = self.text ?? self.pattern
        guard Self.isPath(self.pattern) else {
            self.text = Self.insert("\(Address.encode(name))=\(Address.encode(text))", into: url)
            return
        }
        let mark: Unicode.Scalar = self.text == nil ? "?" : "&"
        self.text =
            TextBuffer.url(url, mark, name, text)
            ?? "\(url)\(mark)\(Address.encode(name))=\(Address.encode(text))"
    }

    /// Whether it is a URL with one number, which need not become text.
    @inlinable
    @inline(__always)
    var isNumber: Bool { !self.name.isEmpty && self.rest == nil }

    /// A URL with a number in its query.
    @usableFromInline
    static func text(of url: String, _ name: String, _ number: Int) -> String {
        if self.isPath(url), let text = TextBuffer.url(url, "?", name, number) { return text }
        return self.insert("\(Address.encode(name))=\(number)", into: url)
    }

    /// Whether a URL has neither a query nor a fragment, as it is where `@Route` writes it.
    private static func isPath(_ url: String) -> Bool {
        !url.utf8.contains { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
    }

    /// A URL with one item more in its query, which is before the fragment.
    private static func insert(_ item: String, into url: String) -> String {
        let end = url.firstIndex(of: "#") ?? url.endIndex
        let mark = url[..<end].contains("?") ? "&" : "?"
        return "\(url[..<end])\(mark)\(item)\(url[end...])"
    }

    /// The URL.
    ///
    /// - Throws: what ``general()`` throws.
    @inlinable
    @inline(__always)
    func url() throws(RoutingError) -> String {
        self.name.isEmpty ? try self.general() : Self.text(of: self.pattern, self.name, self.number)
    }

    /// The URL, whatever its values are.
    ///
    /// - Throws: `invalidPattern`, `missingParameter`, or `invalidParameter` for a value that the pattern
    ///   would not give back.
    @usableFromInline
    func general() throws(RoutingError) -> String {
        if self.isURL {
            var draft = self
            draft.writeFirst()
            return draft.text ?? self.pattern
        }
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
