/// Turns the text of a pattern into its segments.
struct PatternParser {
    let text: String
    let rules: AddressRules

    /// What a pattern says.
    struct Result {
        var scheme: String
        /// The ways to match it, the longest first.
        var variants: [[PatternSegment]]
    }

    func parse() throws(RoutingError) -> Result {
        var bytes = Array(self.text.utf8)
        if self.rules.conventions.patternsIgnoreSpaces { bytes.removeAll { $0 == UInt8(ascii: " ") } }
        guard !bytes.isEmpty else { throw self.error("an empty text is not a pattern") }
        try self.check(bytes.count, self.rules.limits.patternLength, "bytes", "patternLength")
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
            throw self.error("the pattern has no scheme, and here there is no default one")
        }
        let path = self.path(Array(bytes[(schemeEnd > 0 ? schemeEnd + 1 : 0)...]))
        let hasGroups = self.rules.conventions.placeholders == .all
        let texts = hasGroups ? try PatternGroups(path, self.error).expanded() : [path]
        var variants: [[PatternSegment]] = []
        for text in texts {
            var splitter = SegmentSplitter(text, self.rules.conventions)
            do {
                variants.append(try splitter.segments())
            } catch {
                throw self.error(error.message)
            }
        }
        for variant in variants {
            try self.check(variant.count, self.rules.limits.segments, "segments", "segments")
            let parameters = variant.reduce(0) { $0 + $1.parameters.count }
            try self.check(parameters, min(self.rules.limits.parameters, 4_096), "parameters", "parameters")
        }
        return Result(scheme: scheme, variants: variants)
    }

    /// The path without a host that is no segment and a query that is not looked at.
    private func path(_ bytes: [UInt8]) -> [UInt8] {
        var path = bytes[...]
        let conventions = self.rules.conventions
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

    /// Where the scheme ends; 0 when there is none.
    private static func schemeEnd(_ bytes: [UInt8]) -> Int {
        for (index, byte) in bytes.enumerated() {
            if ASCII.isLetter(byte) || (index > 0 && ASCII.isSchemeTail(byte)) { continue }
            return byte == UInt8(ascii: ":") ? index : 0
        }
        return 0
    }

    private func check(_ count: Int, _ limit: Int, _ what: String, _ name: String) throws(RoutingError) {
        guard count > limit else { return }
        throw self.error("the pattern has \(count) \(what), more than the \(limit) that `\(name)` allows")
    }

    private func error(_ message: String) -> RoutingError {
        let text =
            self.text.utf8.count > self.rules.limits.patternLength
            ? String(self.text.prefix(64)) + "..." : self.text
        return RoutingError(.invalidPattern, url: text, message: message)
    }
}
