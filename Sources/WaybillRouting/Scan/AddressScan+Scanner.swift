extension AddressScan where Self: ~Copyable {
    /// Reads the text once from beginning to end; what is returned is why it is not an address.
    @inline(__always)
    mutating func read(_ bytes: Span<UInt8>, _ rules: AddressRules) -> ScanFailure? {
        let count = bytes.count
        guard count > 0 else { return .empty }
        guard count <= rules.urlLength else { return .tooLong }
        var index = self.readDefaultScheme(bytes, rules)
        if index == 0 { index = self.readScheme(bytes) }
        if index == 0, rules.requiresScheme { return .noScheme }
        self.layout.pathStart = index
        let fragmentByte = rules.fragmentByte
        var escapes: UInt64 = 0
        index = self.readSegments(bytes, from: index, fragmentByte, &escapes)
        self.layout.pathEnd = index
        self.layout.queryEnd = self.layout.pathEnd
        if index < count { self.readTail(bytes, from: index, fragmentByte, &escapes) }
        if escapes != 0 {
            self.layout.hasEscapes = true
            guard PercentCoding.isValid(bytes) else { return .notUTF8 }
        }
        if escapes != 0 || rules.hasDetours { self.takeDetours(bytes, rules) }
        guard self.count <= rules.segmentLimit else { return .tooManySegments }
        let queryLength = self.layout.queryEnd &- self.layout.pathEnd
        if queryLength > 2 &* rules.queryItemLimit, self.countsTooManyQueryItems(bytes, rules) {
            return .tooManyQueryItems
        }
        return nil
    }

    /// Reads the default scheme if it is there and in letters: then one word tells, and the root is known as well.
    @inline(__always)
    private mutating func readDefaultScheme(_ bytes: Span<UInt8>, _ rules: AddressRules) -> Int {
        let word = Word.load(bytes, 0)
        let colons = Word.mask(word, UInt8(ascii: ":"))
        let length = Word.firstIndex(colons)
        // With this bit set nothing but a letter becomes a letter.
        let folded = Word.prefix(word | (Word.ones &* 0x20), length & 7)
        guard colons != 0, SegmentKey.short(folded, length) == rules.lettersOfDefaultScheme else { return 0 }
        self.layout.schemeEnd = length
        self.layout.hasDefaultScheme = true
        return length &+ 1
    }

    /// Reads the scheme, if there is one, and returns where the rest begins.
    @inline(never)
    private mutating func readScheme(_ bytes: Span<UInt8>) -> Int {
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            if ASCII.isLetter(byte) || (index > 0 && ASCII.isSchemeTail(byte)) {
                index &+= 1
                continue
            }
            guard byte == UInt8(ascii: ":"), index > 0 else { return 0 }
            self.layout.schemeEnd = index
            return index &+ 1
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
            while ends == 0 {
                escapes |= Word.mask(word, UInt8(ascii: "%"))
                hash = SegmentKey.mix(hash, word)
                index &+= 8
                word = Word.load(bytes, index)
                ends = Word.segmentEnds(word) | Word.mask(word, fragmentByte)
                if count &- index < 8 { ends |= 0x80 &<< UInt64((count &- index) &* 8) }
            }
            let length = Word.firstIndex(ends)
            let tail = Word.prefix(word, length)
            escapes |= Word.mask(tail, UInt8(ascii: "%"))
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

    /// Reads the query and the fragment.
    @inline(__always)
    private mutating func readTail(
        _ bytes: Span<UInt8>,
        from start: Int,
        _ fragmentByte: UInt8,
        _ escapes: inout UInt64
    ) {
        var index = start
        let count = bytes.count
        // The last word overlaps with what was read before, in which there is nothing new to find.
        let last = count >= 8 ? count &- 8 : start
        if bytes[index] == UInt8(ascii: "?") {
            index &+= 1
            self.layout.queryEnd = count
            while index < count {
                let place = min(index, last)
                let word = Word.load(bytes, place)
                escapes |= Word.mask(word, UInt8(ascii: "%"))
                let ends = Word.mask(word, fragmentByte)
                index = place &+ 8
                if ends != 0 {
                    index = place &+ Word.firstIndex(ends)
                    self.layout.queryEnd = index
                    break
                }
            }
            if index >= count { return }
        }
        self.layout.hasFragment = true
        while index < count {
            escapes |= Word.mask(Word.load(bytes, min(index, last)), UInt8(ascii: "%"))
            index &+= 8
        }
    }
}
