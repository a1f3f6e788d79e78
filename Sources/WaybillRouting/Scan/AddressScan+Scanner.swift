extension AddressScan where Self: ~Copyable {
    /// Reads the text once from beginning to end; what is returned is why it is not an address.
    @inline(__always)
    mutating func read(_ bytes: Span<UInt8>, _ rules: AddressRules) -> ScanFailure? {
        let count = bytes.count
        guard count > 0 else { return .empty }
        guard count <= rules.urlLength else { return .tooLong }
        var flags = AddressLayout.Flags()
        var schemeEnd = Self.endOfDefaultScheme(bytes, rules)
        if schemeEnd != 0 { flags = .defaultScheme } else { schemeEnd = Self.endOfScheme(bytes) }
        if schemeEnd == 0, rules.requiresScheme { return .noScheme }
        let pathStart = schemeEnd == 0 ? 0 : schemeEnd &+ 1
        var escapes: UInt64 = 0
        let pathEnd = self.readSegments(bytes, from: pathStart, rules.fragmentByte, &escapes)
        var tail = ScannedTail(queryEnd: pathEnd)
        if pathEnd < count {
            tail = ScannedTail(bytes, from: pathEnd, rules.fragmentByte)
            if tail.queryEnd < count { flags.insert(.fragment) }
        }
        let hasEscapes = escapes != 0 || tail.hasEscapes
        if hasEscapes { flags.insert(.escapes) }
        self.layout = AddressLayout(
            schemeEnd: schemeEnd,
            pathStart: pathStart,
            pathEnd: pathEnd,
            queryEnd: tail.queryEnd,
            flags: flags
        )
        if hasEscapes, !PercentCoding.isValid(bytes) { return .notUTF8 }
        if hasEscapes || rules.hasDetours { self.takeDetours(bytes, rules) }
        guard self.count <= rules.segmentLimit else { return .tooManySegments }
        if tail.queryEnd &- pathEnd > 2 &* rules.queryItemLimit, self.countsTooManyQueryItems(bytes, rules) {
            return .tooManyQueryItems
        }
        return nil
    }

    /// Reads the default scheme if it is there and in letters: then one word tells, and the root is known as well.
    @inline(__always)
    private static func endOfDefaultScheme(_ bytes: Span<UInt8>, _ rules: AddressRules) -> Int {
        let word = Word.load(bytes, 0)
        let colons = Word.mask(word, UInt8(ascii: ":"))
        let length = Word.firstIndex(colons)
        // With this bit set nothing but a letter becomes a letter.
        let folded = Word.prefix(word | (Word.ones &* 0x20), length & 7)
        guard colons != 0, SegmentKey.short(folded, length) == rules.lettersOfDefaultScheme else { return 0 }
        return length
    }

    /// Where the scheme ends, if there is one; else 0.
    @inline(never)
    private static func endOfScheme(_ bytes: Span<UInt8>) -> Int {
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            if ASCII.isLetter(byte) || (index > 0 && ASCII.isSchemeTail(byte)) {
                index &+= 1
                continue
            }
            return byte == UInt8(ascii: ":") ? index : 0
        }
        return 0
    }

    /// Reads the segments and returns where the path ends.
    @inline(__always)
    private mutating func readSegments(
        _ bytes: Span<UInt8>,
        from start: Int,
        _ fragmentByte: UInt8,
        _ escapes: inout UInt64
    ) -> Int {
        let count = bytes.count
        var index = start
        while index < count, bytes[index] == UInt8(ascii: "/") { index &+= 1 }
        while index < count {
            let start = index
            var word = Word.load(bytes, index)
            var ends = Word.segmentEnds(word) | Word.mask(word, fragmentByte)
            if count &- index < 8 { ends |= 0x80 &<< UInt64((count &- index) &* 8) }
            var hash: UInt64 = 0
            // Where in the text a `%` stands does not matter, so whole words are asked.
            escapes |= Word.mask(word, UInt8(ascii: "%"))
            while ends == 0 {
                hash = SegmentKey.mix(hash, word)
                index &+= 8
                word = Word.load(bytes, index)
                escapes |= Word.mask(word, UInt8(ascii: "%"))
                ends = Word.segmentEnds(word) | Word.mask(word, fragmentByte)
                if count &- index < 8 { ends |= 0x80 &<< UInt64((count &- index) &* 8) }
            }
            let length = Word.firstIndex(ends)
            let tail = Word.prefix(word, length)
            let isShort = index == start
            index &+= length
            if isShort {
                if length > 0 {
                    let range = URLRange(start, index)
                    self.append(ScannedSegment(range: range, key: SegmentKey.short(tail, length)))
                }
            } else {
                if length > 0 { hash = SegmentKey.mix(hash, tail) }
                self.append(ScannedSegment(range: URLRange(start, index), key: hash | SegmentKey.longFlag))
            }
            // What ended the segment is still in the word; behind the end of the text there are zeros.
            guard word &>> UInt64(length &* 8) & 0xff == UInt64(UInt8(ascii: "/")) else { break }
            index &+= 1
        }
        return index
    }
}
