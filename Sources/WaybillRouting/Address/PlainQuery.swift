/// A query without escapes, read as it is by default: nearly every one that there is.
enum PlainQuery {
    /// The value of the last item with a name; no value is at the beginning of a URL, so that stands for none.
    ///
    /// One word tells a short name from others and says what follows it.
    @inline(__always)
    static func value(of name: Span<UInt8>, in bytes: Span<UInt8>, _ layout: AddressLayout) -> URLRange {
        let count = name.count
        guard count < 8 else { return Self.value(ofLong: name, in: bytes, layout) }
        let mask = Word.prefix(.max, count)
        let wanted = Word.few(name)
        var found = URLRange()
        // Items without a name are none.
        guard count > 0 else { return found }
        let end = layout.queryEnd
        var start = layout.pathEnd &+ 1
        while start < end {
            let word = Word.load(bytes, start)
            let next = Self.end(ofItem: word, start, end, bytes)
            if (word ^ wanted) & mask == 0 {
                // A name ends at the first `=`, or where the item does.
                let stop = start &+ min(Word.firstIndex(Word.mask(word, UInt8(ascii: "="))), next &- start)
                if stop == start &+ count { found = URLRange(min(stop &+ 1, next), next) }
            }
            start = next &+ 1
        }
        return found
    }

    @inline(never)
    private static func value(
        ofLong name: Span<UInt8>,
        in bytes: Span<UInt8>,
        _ layout: AddressLayout
    ) -> URLRange {
        let end = layout.queryEnd
        let wanted = Word.load(name, 0)
        var found = URLRange()
        var start = layout.pathEnd &+ 1
        while start < end {
            let word = Word.load(bytes, start)
            let next = Self.end(ofItem: word, start, end, bytes)
            let stop = start &+ name.count
            if word == wanted, stop <= next, Self.isSame(name, bytes, start) {
                if stop == next {
                    found = URLRange(next, next)
                } else if bytes[stop] == UInt8(ascii: "=") {
                    found = URLRange(stop &+ 1, next)
                }
            }
            start = next &+ 1
        }
        return found
    }

    /// Whether an item begins with a name, which then has no `=` in it.
    private static func isSame(_ name: Span<UInt8>, _ bytes: Span<UInt8>, _ start: Int) -> Bool {
        for index in name.indices {
            let byte = bytes[start &+ index]
            if byte != name[index] || byte == UInt8(ascii: "=") { return false }
        }
        return true
    }

    /// Where an item ends whose first word is read already.
    @inline(__always)
    private static func end(ofItem word: UInt64, _ start: Int, _ end: Int, _ bytes: Span<UInt8>) -> Int {
        let ends = Word.mask(word, UInt8(ascii: "&"))
        if ends == 0, start &+ 8 < end { return Self.end(from: start &+ 8, end, bytes) }
        return min(start &+ Word.firstIndex(ends), end)
    }

    @inline(never)
    private static func end(from start: Int, _ end: Int, _ bytes: Span<UInt8>) -> Int {
        var index = start
        while index < end {
            let ends = Word.mask(Word.load(bytes, index), UInt8(ascii: "&"))
            if ends != 0 { return min(index &+ Word.firstIndex(ends), end) }
            index &+= 8
        }
        return end
    }
}
