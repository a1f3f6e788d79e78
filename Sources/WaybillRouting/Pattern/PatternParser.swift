/// Parses the text of a pattern into its scheme and segments.
struct PatternParser {
    let text: String
    let rules: RoutingRules
    var source = PatternSource.code
    /// Regular expressions that are already built, by their sources.
    var known: [ExactText: RegularExpression] = [:]

    /// A parsed pattern.
    struct Result {
        var scheme: String
        /// The segment sequences that the pattern matches, the longest first.
        var variants: [[PatternSegment]]
        /// The text of each variant; empty when the pattern has only one variant.
        var alternatives: [String]
    }

    func parse() throws(RoutingError) -> Result {
        var bytes = Array(self.text.utf8)
        if self.rules.conventions.patternsIgnoreSpaces { bytes.removeAll { $0 == UInt8(ascii: " ") } }
        guard !bytes.isEmpty else { throw self.error("an empty text is not a pattern") }
        if self.source != .table {
            try self.check(
                bytes.count,
                limit: self.rules.limits.patternLength,
                what: "bytes",
                name: "patternLength"
            )
        }
        guard PercentCoding.isValid(bytes.span) else {
            throw self.error("the percent-encoding of the pattern is not UTF-8")
        }
        let schemeEnd = Self.schemeEnd(bytes)
        var scheme = self.rules.defaultScheme
        if schemeEnd > 0 {
            scheme = self.rules.conventions.folded(
                scheme: String(decoding: bytes[..<schemeEnd], as: UTF8.self)
            )
        } else if self.rules.requiresScheme {
            throw self.error(
                "the pattern has no scheme, and there is no default scheme: begin the pattern with a scheme"
            )
        }
        let path = self.path(Array(bytes[(schemeEnd > 0 ? schemeEnd + 1 : 0)...]))
        let hasGroups = self.rules.conventions.placeholders == .all && path.contains(UInt8(ascii: "("))
        let groups = OptionalGroups(path, limit: self.source.groupLimit, self.error)
        let texts = hasGroups ? try groups.expanded() : [path]
        var variants: [[PatternSegment]] = []
        var budget = self.source.budget(self.rules.limits)
        for text in texts {
            var parser = SegmentParser(text, self.rules.conventions, budget: budget, known: self.known)
            defer { budget = parser.budget }
            do {
                variants.append(try parser.segments())
            } catch {
                throw self.error(error.message)
            }
        }
        for variant in variants {
            try self.check(
                variant.count,
                limit: self.rules.limits.segments,
                what: "segments",
                name: "segments"
            )
            let parameters = variant.reduce(0) { $0 + $1.parameterCount }
            try self.check(
                parameters,
                limit: min(self.rules.limits.parameters, 4_096),
                what: "parameters",
                name: "parameters"
            )
        }
        let alternatives = texts.count == 1 ? [] : texts.map { String(decoding: $0, as: UTF8.self) }
        return Result(scheme: scheme, variants: variants, alternatives: alternatives)
    }

    /// Returns the path without a host that is not a segment, and without a query that the conventions
    /// ignore.
    private func path(_ bytes: [UInt8]) -> [UInt8] {
        let conventions = self.rules.conventions
        if conventions.host == .isFirstSegment, conventions.patternQuery == .isText { return bytes }
        var path = bytes[...]
        let slash = UInt8(ascii: "/")
        if conventions.host != .isFirstSegment, path.starts(with: [slash, slash]) {
            let host = path.dropFirst(2).prefix { $0 != slash }
            if conventions.host == .isIgnored || host.contains(UInt8(ascii: ".")) {
                path = path.dropFirst(2 + host.count)
            }
        }
        let isQueryIgnored =
            switch conventions.patternQuery {
            case .isText: false
            case .isIgnored: true
            case .isIgnoredBesidePlaceholders:
                path.split(separator: slash).contains { $0.first == UInt8(ascii: ":") }
            }
        return Array(isQueryIgnored ? path.prefix { $0 != UInt8(ascii: "?") } : path)
    }

    /// Returns the end of the scheme; 0 when the pattern has no scheme.
    static func schemeEnd(_ bytes: [UInt8]) -> Int {
        for (index, byte) in bytes.enumerated() {
            if ASCII.isLetter(byte) || (index > 0 && ASCII.isSchemeTail(byte)) { continue }
            return byte == UInt8(ascii: ":") ? index : 0
        }
        return 0
    }

    private func check(_ count: Int, limit: Int, what: String, name: String) throws(RoutingError) {
        guard count > limit else { return }
        throw self.error("the pattern has \(count) \(what), more than the \(limit) that `\(name)` allows")
    }

    private func error(_ message: String) -> RoutingError {
        let text =
            self.text.utf8.count > self.rules.limits.patternLength
            ? String(self.text.unicodeScalars.prefix(64)) + "..." : self.text
        return RoutingError(.invalidPattern, url: text, message: message)
    }
}

/// Expands optional groups: `a(/b)(/c)` becomes `a/b/c`, `a/b`, `a/c` and `a`.
struct OptionalGroups {
    private let path: [UInt8]
    /// The maximum number of groups, each of which doubles the number of expansions.
    private let limit: Int
    private let error: (String) -> RoutingError

    init(_ path: [UInt8], limit: Int, _ error: @escaping (String) -> RoutingError) {
        self.path = path
        self.limit = limit
        self.error = error
    }

    func expanded() throws(RoutingError) -> [[UInt8]] {
        var done: [[UInt8]] = []
        var open = [self.path]
        var groups = 0
        while let path = open.popLast() {
            guard let group = try self.firstGroup(in: path) else {
                if !done.contains(path) { done.append(path) }
                continue
            }
            let without = Array(path[..<group.lowerBound] + path[group.upperBound...])
            let with = Array(
                path[..<group.lowerBound] + path[(group.lowerBound + 1)..<(group.upperBound - 1)]
                    + path[group.upperBound...]
            )
            // The n-th group is found once for each expansion of the groups before it, so count up to two to
            // the power of the limit.
            groups += 1
            guard groups < 1 << self.limit else {
                throw self.error(
                    "the pattern has more than \(self.limit) optional groups: register several patterns"
                )
            }
            open += [without, with]
        }
        return done
    }

    /// Returns the range of the first group, including its parentheses.
    private func firstGroup(in path: [UInt8]) throws(RoutingError) -> Range<Int>? {
        var index = 0
        var start: Int?
        var depth = 0
        while index < path.count {
            if let end = SegmentParser.regexEnd(path, at: index) {
                index = end
                continue
            }
            switch path[index] {
            case UInt8(ascii: "("):
                if start == nil, index + 1 < path.count, path[index + 1] == UInt8(ascii: "/") {
                    start = index
                }
                if start != nil { depth += 1 }
            case UInt8(ascii: ")"):
                guard let start else { break }
                depth -= 1
                if depth == 0 { return start..<index + 1 }
            default: break
            }
            index += 1
        }
        if start != nil {
            throw self.error("an optional group is not closed: add `)`, or write `%28` for the text `(`")
        }
        return nil
    }
}
