/// Turns the text of a pattern into its segments.
struct PatternParser {
    let text: String
    let rules: AddressRules

    init(_ text: String, _ rules: AddressRules) {
        self.text = text
        self.rules = rules
    }

    mutating func parse() throws(RoutingError) -> (String, [[PatternSegment]]) {
        let bytes = Array(self.text.utf8)
        guard !bytes.isEmpty else { throw self.error("an empty text is not a pattern") }
        guard bytes.count <= self.rules.limits.patternLength else {
            throw self.error(
                "the pattern has \(bytes.count) bytes, more than the \(self.rules.limits.patternLength) "
                    + "that `patternLength` allows"
            )
        }
        guard PercentCoding.isValid(bytes.span) else {
            throw self.error("the percent-encoding of the pattern is not UTF-8")
        }
        let schemeEnd = Self.schemeEnd(bytes)
        var scheme = self.rules.defaultScheme
        if schemeEnd > 0 {
            let name = String(decoding: bytes[..<schemeEnd], as: UTF8.self)
            scheme = self.rules.conventions.folded(scheme: name)
        } else if self.rules.conventions.missingScheme == .isError {
            throw self.error("the pattern has no scheme, and here there is no default one")
        }
        let path = Array(bytes[(schemeEnd > 0 ? schemeEnd + 1 : 0)...])
        return (scheme, [try self.segments(path)])
    }

    private func segments(_ path: [UInt8]) throws(RoutingError) -> [PatternSegment] {
        var segments: [PatternSegment] = []
        for part in path.split(separator: UInt8(ascii: "/")) {
            segments.append(try self.segment(Array(part)))
        }
        guard segments.count <= self.rules.limits.segments else {
            throw self.error(
                "the pattern has more segments than the \(self.rules.limits.segments) that `segments` allows"
            )
        }
        return segments
    }

    private func segment(_ part: [UInt8]) throws(RoutingError) -> PatternSegment {
        if part[0] == UInt8(ascii: ":"), part.count > 1 {
            return .placeholder(String(decoding: part[1...], as: UTF8.self))
        }
        return .literal(PercentCoding.decode(part.span, 0..<part.count))
    }

    static func schemeEnd(_ bytes: [UInt8]) -> Int {
        for (index, byte) in bytes.enumerated() {
            if ASCII.isLetter(byte) || (index > 0 && ASCII.isSchemeTail(byte)) { continue }
            return byte == UInt8(ascii: ":") ? index : 0
        }
        return 0
    }

    func error(_ message: String) -> RoutingError {
        RoutingError(.invalidPattern, url: self.text, message: message)
    }
}
