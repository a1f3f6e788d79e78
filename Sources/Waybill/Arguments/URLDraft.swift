internal import WaybillRouting

/// A URL in the making: a pattern, and the values that fill it in.
///
/// A pattern without placeholders, as most are that have their values in the query, is the URL already, and
/// grows by each value.
@usableFromInline
struct URLDraft: Sendable {
    private let pattern: String
    /// The URL with what has been added so far; nil if the pattern has placeholders.
    private var text: String?
    /// The values for the general way, which looks at the pattern when all are there.
    private var values: [(name: String, text: String)] = []

    /// What is passed with the call, since it has no text.
    @usableFromInline var parameters: [String: any Sendable] = [:]

    @usableFromInline
    init(_ pattern: String) {
        self.pattern = pattern
        if PlainPattern.isURL(pattern) { self.text = pattern }
    }

    /// Adds a number.
    @usableFromInline
    mutating func add(_ name: String, _ number: Int) {
        guard var buffer = self.query(name, room: 20) else { return self.append(name, number.description) }
        buffer.add(number)
        self.text = buffer.text
    }

    /// Adds a text.
    @usableFromInline
    mutating func add(_ name: String, _ text: String) {
        let encoded = Address.encode(text)
        guard var buffer = self.query(name, room: encoded.utf8.count) else { return self.append(name, text) }
        buffer.add(encoded)
        self.text = buffer.text
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
    private mutating func pass(_ name: String, _ value: any Sendable) { self.parameters[name] = value }

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

    /// Begins a query item; nil if the pattern has placeholders, or the URL gets too long.
    @inline(__always)
    private func query(_ name: String, room: Int) -> TextBuffer? {
        guard let url = self.text else { return nil }
        let name = Address.encode(name)
        guard url.utf8.count &+ name.utf8.count &+ room &+ 2 <= TextBuffer.capacity else { return nil }
        var buffer = TextBuffer()
        buffer.add(url)
        buffer.add(url.utf8.count == self.pattern.utf8.count ? UInt8(ascii: "?") : UInt8(ascii: "&"))
        buffer.add(name)
        buffer.add(UInt8(ascii: "="))
        return buffer
    }

    /// Adds a value where there is no such buffer.
    @inline(never)
    private mutating func append(_ name: String, _ text: String) {
        guard let url = self.text else { return self.values.append((name, text)) }
        let mark = url.utf8.count == self.pattern.utf8.count ? "?" : "&"
        self.text = "\(url)\(mark)\(Address.encode(name))=\(Address.encode(text))"
    }

    /// The URL.
    ///
    /// - Throws: `invalidPattern`, `missingParameter`, or `invalidParameter` for a value that the pattern
    ///   would not give back.
    @usableFromInline
    func url() throws(RoutingError) -> String {
        if let text { return text }
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
