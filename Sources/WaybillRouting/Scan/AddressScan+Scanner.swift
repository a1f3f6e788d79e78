extension AddressScan where Self: ~Copyable {
    /// Reads the text once from beginning to end; what is returned is why it is not an address.
    @inline(__always)
    mutating func read(_ bytes: Span<UInt8>, _ rules: AddressRules) -> ScanFailure? {
        let count = bytes.count
        guard count > 0 else { return .empty }
        guard count <= rules.urlLength else { return .tooLong }
        var index = self.readScheme(bytes)
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

    /// Reads the scheme, if there is one, and returns where the rest begins.
    @inline(__always)
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
        while index < count {
            if bytes[index] == UInt8(ascii: "/") {
                index &+= 1
                continue
            }
            let start = index
            var key: UInt64 = 0
            while true {
                let word = Word.load(bytes, index)
                var ends = Word.segmentEnds(word) | Word.mask(word, fragmentByte)
                let left = count &- index
                if left < 8 { ends |= 0x80 &<< UInt64(left &* 8) }
                if ends == 0 {
                    escapes |= Word.mask(word, UInt8(ascii: "%"))
                    key = SegmentKey.mix(key, word)
                    index &+= 8
                    continue
                }
                let length = Word.firstIndex(ends)
                let tail = Word.prefix(word, length)
                escapes |= Word.mask(tail, UInt8(ascii: "%"))
                if index == start {
                    key = SegmentKey.short(tail, length)
                } else {
                    if length > 0 { key = SegmentKey.mix(key, tail) }
                    key |= SegmentKey.longFlag
                }
                index &+= length
                break
            }
            if index > start {
                self.append(ScannedSegment(range: URLRange(start, index), key: key))
            }
            if index < count, bytes[index] != UInt8(ascii: "/") { break }
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
        if bytes[index] == UInt8(ascii: "?") {
            index &+= 1
            self.layout.queryEnd = count
            while index < count {
                let word = Word.load(bytes, index)
                escapes |= Word.mask(word, UInt8(ascii: "%"))
                let ends = fragmentByte == UInt8(ascii: "#") ? Word.mask(word, fragmentByte) : 0
                if ends != 0 {
                    index &+= Word.firstIndex(ends)
                    self.layout.queryEnd = index
                    break
                }
                index &+= 8
            }
            if index >= count { return }
        }
        self.layout.hasFragment = true
        while index < count {
            escapes |= Word.mask(Word.load(bytes, index), UInt8(ascii: "%"))
            index &+= 8
        }
    }
}
