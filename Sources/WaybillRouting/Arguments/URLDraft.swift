/// A URL under construction: a pattern and the values for its placeholders.
///
/// Most patterns have no placeholders, so all values belong in the query. A pattern without placeholders is
/// already a URL, and each value is appended to this URL.
@usableFromInline
package struct URLDraft: Sendable {
    @usableFromInline let pattern: String
    /// Whether the pattern has no placeholders and is therefore a URL.
    @usableFromInline let isURL: Bool
    /// The bytes of the URL before its fragment, with the parameters that have been added so far.
    private var bytes: [UInt8]
    /// The bytes of the fragment, with its `#`.
    private let fragment: [UInt8]
    private var hasQuery: Bool
    /// Whether a value has an empty name, under which no handler could read the value.
    private var hasUnnamed = false
    /// The parts that only a few URLs have, behind one reference.
    ///
    /// Separate properties would cost more, because even an empty array and an empty dictionary are
    /// reference-counted.
    @usableFromInline package var rest: Rest?

    /// The parts of a URL that cannot be appended to the text immediately.
    @usableFromInline
    package indirect enum Rest: Sendable {
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
    init(_ pattern: String) { self.init(pattern, isURL: PlainPattern.isURL(pattern)) }

    /// Creates a draft from a pattern that the caller knows to be a URL.
    @usableFromInline
    init(url: String) { self.init(url, isURL: true) }

    private init(_ pattern: String, isURL: Bool) {
        self.pattern = pattern
        self.isURL = isURL
        var bytes: [UInt8] = []
        bytes.reserveCapacity(pattern.utf8.count + 32)
        bytes.append(contentsOf: pattern.utf8)
        var (fragment, hasQuery): ([UInt8], Bool) = ([], false)
        for index in bytes.indices {
            if bytes[index] == UInt8(ascii: "?") { hasQuery = true }
            if bytes[index] == UInt8(ascii: "#") {
                fragment = Array(bytes[index...])
                bytes.removeSubrange(index...)
                break
            }
        }
        self.bytes = bytes
        self.fragment = fragment
        self.hasQuery = hasQuery
    }

    @usableFromInline
    mutating func addText(_ name: String, _ text: String) {
        if self.isURL {
            self.beginItem(name)
            self.bytes.append(contentsOf: Address.encode(text).utf8)
        } else {
            self.hasUnnamed = self.hasUnnamed || name.isEmpty
            self.rest = .of(self.values + [(name, text)], passed: self.parameters)
        }
    }

    @usableFromInline
    mutating func addNumber(_ name: String, _ number: Int) {
        guard self.isURL else { return self.addText(name, number.description) }
        self.beginItem(name)
        if number < 0 { self.bytes.append(UInt8(ascii: "-")) }
        self.appendDigits(of: number.magnitude)
    }

    private mutating func appendDigits(of number: UInt) {
        if number >= 10 { self.appendDigits(of: number / 10) }
        self.bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10))
    }

    @usableFromInline
    mutating func addValue<Parameter: Sendable>(_ name: String, _ value: Parameter, hasDefault: Bool) {
        switch ArgumentText(value) {
        case .one(let text): self.addText(name, text)
        case .several(let texts): for text in texts { self.addText(name, text) }
        case .absent where !hasDefault: return
        case .absent, .none: self.pass(name, value)
        }
    }

    /// Passes a value with the call, without conversion and even if the value is nil.
    private mutating func pass(_ name: String, _ value: any Sendable) {
        self.rest = .of(self.values, passed: self.parameters.merging([name: value]) { $1 })
    }

    /// Adds a value, or passes nil with the call if the handler has a default for a missing value.
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

    /// Appends the name of an item of the query.
    private mutating func beginItem(_ name: String) {
        self.bytes.append(UInt8(ascii: self.hasQuery ? "&" : "?"))
        self.hasQuery = true
        self.hasUnnamed = self.hasUnnamed || name.isEmpty
        self.bytes.append(contentsOf: Address.encode(name).utf8)
        self.bytes.append(UInt8(ascii: "="))
    }

    /// Returns the URL with all parameters that have a text.
    @usableFromInline
    func url() throws(RoutingError) -> String {
        if self.hasUnnamed {
            throw RoutingError(
                .invalidParameter,
                url: self.pattern,
                message: "the name of a parameter is empty: give each parameter a name"
            )
        }
        if self.isURL {
            return String(
                decoding: self.fragment.isEmpty ? self.bytes : self.bytes + self.fragment,
                as: UTF8.self
            )
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
        let url: String
        do throws(RoutingError) {
            url = try pattern.url(with: path)
        } catch {
            let isPassed = { path[$0] == nil && self.parameters[$0] != nil }
            throw pattern.parameters.map(\.name).first(where: isPassed).map(self.noText) ?? error
        }
        let text = query.isEmpty ? url : "\(url)?\(query.joined(separator: "&"))"
        // The bus completes a URL without a scheme, and knows its own default scheme.
        return PatternParser.schemeEnd(Array(self.pattern.utf8)) > 0
            ? text : String(text.dropFirst(pattern.scheme.count + ":/".count))
    }

    private func noText(_ name: String) -> RoutingError {
        RoutingError(
            .invalidParameter,
            url: self.pattern,
            message:
                "`\(name)` is in the path of \(self.pattern), but values of its type have no text in a URL: "
                + "use another type, or move the parameter out of the path"
        )
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
