internal import WaybillRouting

/// A URL under construction: a pattern and the values for its placeholders.
///
/// Most patterns have no placeholders, so all values belong in the query. A pattern without placeholders is
/// already a URL, and each value is appended to this URL.
@usableFromInline
struct URLDraft: Sendable {
    @usableFromInline let pattern: String
    /// Whether the pattern has no placeholders and is therefore a URL.
    @usableFromInline let isURL: Bool
    /// The URL with the parameters that have been added so far.
    private var text: String
    private var hasQuery = false
    /// The byte offset of the URL's fragment; nil when the URL has no fragment.
    private var fragment: Int?
    /// The parts that only a few URLs have, behind one reference.
    ///
    /// Separate properties would cost more, because even an empty array and an empty dictionary are
    /// reference-counted.
    @usableFromInline var rest: Rest?

    /// The parts of a URL that cannot be appended to the text immediately.
    @usableFromInline
    indirect enum Rest: Sendable {
        /// The values for the placeholders, which are filled in at the end, and the values that are passed
        /// with the call.
        case of([(name: String, text: String)], passed: [String: any Sendable])
    }

    private var values: [(name: String, text: String)] {
        if case .of(let values, _) = self.rest { values } else { [] }
    }

    /// The values that have no text and are passed with the call.
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

    /// Creates a draft from a pattern that the caller knows to be a URL.
    @usableFromInline
    init(url: String) {
        self.pattern = url
        self.text = url
        self.isURL = true
        self.scan(url)
    }

    /// Finds the query and the fragment of a URL.
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
    mutating func addText(_ name: String, _ text: String) {
        if self.isURL {
            self.append(Address.encode(name), Address.encode(text))
        } else {
            self.rest = .of(self.values + [(name, text)], passed: self.parameters)
        }
    }

    /// Adds a value of any type.
    @usableFromInline
    mutating func addValue<Parameter: Sendable>(_ name: String, _ value: Parameter, hasDefault: Bool) {
        switch ArgumentText(value) {
        case .one(let text): self.addText(name, text)
        case .several(let texts): for text in texts { self.addText(name, text) }
        case .absent where !hasDefault: return
        case .absent, .none: self.pass(name, value)
        }
    }

    /// Passes a value with the call, without conversion.
    ///
    /// Nil is passed like any other value.
    private mutating func pass(_ name: String, _ value: any Sendable) {
        self.rest = .of(self.values, passed: self.parameters.merging([name: value]) { $1 })
    }

    /// Adds a value unless it is nil.
    mutating func addOptional<Parameter: Sendable>(_ name: String, _ value: Parameter?, hasDefault: Bool) {
        guard let content = value else {
            if hasDefault { self.pass(name, value) }
            return
        }
        switch ArgumentText(content) {
        case .one(let text): self.addText(name, text)
        case .several(let texts): for text in texts { self.addText(name, text) }
        case .absent, .none:
            // In a nested Optional, the type shows which level is nil, so pass the Optional and not its
            // content.
            if content is any AnyOptional { self.pass(name, value) } else { self.pass(name, content) }
        }
    }

    /// Appends an item to the query, before the fragment.
    private mutating func append(_ name: String, _ value: String) {
        let mark = UInt8(ascii: self.hasQuery ? "&" : "?")
        self.hasQuery = true
        let text = self.text
        let end = self.fragment ?? text.utf8.count
        let length = name.utf8.count + value.utf8.count + 2
        self.fragment = self.fragment.map { $0 + length }
        // Each append to a `String` would check and grow it again, so one buffer receives all parts.
        self.text = unsafe String(unsafeUninitializedCapacity: text.utf8.count + length) { memory in
            var url = unsafe OutputSpan(buffer: memory, initializedCount: 0)
            url.append(text.utf8.span, in: 0..<end)
            url.append(mark)
            url.append(name.utf8.span)
            url.append(UInt8(ascii: "="))
            url.append(value.utf8.span)
            url.append(text.utf8.span, in: end..<text.utf8.count)
            return unsafe url.finalize(for: memory)
        }
    }

    /// Returns the URL with all parameters that have a text.
    ///
    /// - Throws: `invalidPattern`, `missingParameter`, or `invalidParameter` for a value that the pattern
    ///   would not extract unchanged from the URL.
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
                "expected one value, because `\(name)` is in the path of \(self.pattern), but found \(count)"
        )
    }
}

extension OutputSpan<UInt8> {
    /// Appends the bytes of a span, or of a part of it.
    fileprivate mutating func append(_ bytes: borrowing Span<UInt8>, in range: Range<Int>? = nil) {
        for index in range ?? bytes.indices { self.append(bytes[index]) }
    }
}
