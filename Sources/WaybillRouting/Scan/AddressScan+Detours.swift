/// What most addresses do not need: encoded bytes, folded case, hosts and verbs that are no segments.
extension AddressScan where Self: ~Copyable {
    @inline(never)
    mutating func takeDetours(_ bytes: Span<UInt8>, _ rules: AddressRules) {
        let conventions = rules.conventions
        if conventions.host != .isFirstSegment, let host = self.host(bytes) {
            let isDotted = (host.lowerBound..<host.upperBound).contains { bytes[$0] == UInt8(ascii: ".") }
            if conventions.host == .isIgnored || isDotted { self.dropFirst() }
        }
        if !conventions.leadingVerbs.isEmpty, self.count > 0 {
            let first = PercentCoding.text(bytes, self.range(0).range).lowercased()
            if conventions.leadingVerbs.contains(first) { self.dropFirst() }
        }
        for place in 0..<self.count {
            var segment = self.segment(place)
            var key = SegmentKey()
            var index = segment.range.start
            while index < segment.range.end {
                let (byte, length) = PercentCoding.byte(bytes, index, segment.range.end)
                key.append(conventions.segmentsIgnoreCase ? ASCII.lowercased(byte) : byte)
                index += length
            }
            key.finish()
            segment.key = key.value
            self.replace(place, with: segment)
        }
    }

    /// Where the host is: the first segment, if it stands directly behind `//`.
    private mutating func host(_ bytes: Span<UInt8>) -> Range<Int>? {
        let start = self.layout.schemeEnd == 0 ? 0 : self.layout.schemeEnd + 1
        guard self.count > 0, self.range(0).start == start + 2 else { return nil }
        return self.range(0).range
    }

    @inline(never)
    mutating func countsTooManyQueryItems(_ bytes: Span<UInt8>, _ rules: AddressRules) -> Bool {
        var items = QueryCursor(self.layout, rules)
        var count = 0
        while items.next(bytes) != nil { count += 1 }
        return count > rules.limits.queryItems
    }
}
