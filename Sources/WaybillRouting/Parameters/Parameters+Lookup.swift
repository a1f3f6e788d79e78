extension Parameters {
    /// The location of a value in the text of the address.
    @usableFromInline
    struct Location: Sendable {
        let range: URLRange
        let isRest: Bool
    }

    /// Returns the location of a value, with the precedence of the conventions.
    @usableFromInline
    func locate(_ name: String) -> Location? {
        guard let names = self.names else { return self.locateInQuery(name) }
        return names.rules.isPathFirst
            ? self.locateInPath(name) ?? self.locateInQuery(name)
            : self.locateInQuery(name) ?? self.locateInPath(name)
    }

    @inline(__always)
    func locateInPath(_ name: String) -> Location? {
        guard let names = self.names else { return nil }
        // If several captures have the same name, the last capture is used.
        var index = names.count
        while index > 0 {
            index &-= 1
            if names.names[index] == name {
                return Location(range: self.captured(index), isRest: names.areRests[index])
            }
        }
        return nil
    }

    func locateInQuery(_ name: String) -> Location? {
        guard self.layout.hasQuery else { return nil }
        let rules = self.rules
        let bytes = self.text.utf8.span
        let wanted = name.utf8.span
        if rules.usesDefaultQueryRules, !self.layout.hasEscapes {
            let range = UnescapedQuery.value(of: wanted, in: bytes, self.layout)
            return range == URLRange() ? nil : Location(range: range, isRest: false)
        }
        var cursor = QueryItems(self.layout, rules)
        var found: Location?
        while let item = cursor.next(bytes) {
            guard self.isName(bytes, range: item.name, name: wanted) else { continue }
            let empty = item.name.upperBound..<item.name.upperBound
            guard let range = item.value ?? (rules.keepsQueryNamesWithoutValue ? empty : nil) else {
                continue
            }
            found = Location(range: URLRange(range), isRest: false)
            if rules.firstDuplicateWins { break }
        }
        return found
    }

    /// Returns whether the decoded name of a query item equals `name`.
    func isName(_ bytes: Span<UInt8>, range: Range<Int>, name: Span<UInt8>) -> Bool {
        if self.layout.hasEscapes { return Self.isDecoded(bytes, range: range, name: name) }
        guard range.count == name.count else { return false }
        for index in 0..<name.count where bytes[range.lowerBound &+ index] != name[index] { return false }
        return true
    }

    private static func isDecoded(_ bytes: Span<UInt8>, range: Range<Int>, name: Span<UInt8>) -> Bool {
        var index = range.lowerBound
        var offset = 0
        while index < range.upperBound {
            let (byte, length) = PercentCoding.byte(bytes, index: index, end: range.upperBound)
            guard offset < name.count, name[offset] == byte else { return false }
            offset += 1
            index += length
        }
        return offset == name.count
    }

    /// Returns the decoded text of a value.
    @usableFromInline
    func text(at location: Location) -> String {
        let range = location.range.range
        if !location.isRest {
            return self.layout.hasEscapes
                ? PercentCoding.text(self.text.utf8.span, range) : Address.text(self.text, range)
        }
        let bytes = self.text.utf8.span
        // The segments of a catch-all value are joined by single slashes, however many slashes separate them
        // in the URL.
        let segments = self.address.segmentRanges.filter {
            $0.lowerBound >= range.lowerBound && $0.upperBound <= range.upperBound
        }
        return segments.map { PercentCoding.text(bytes, $0) }.joined(separator: "/")
    }
}
