/// What there is behind the path: query and fragment.
struct ScannedTail {
    /// The end of the query; the end of the path when there is none.
    var queryEnd: Int
    /// Whether a `%` stands in it.
    var hasEscapes = false
}

extension ScannedTail {
    /// Reads the rest of a text; `start` is where the path ended, at `?` or at the fragment.
    @inline(__always)
    init(_ bytes: Span<UInt8>, from start: Int, _ fragmentByte: UInt8) {
        // Nearly always there is a query that has neither of the two signs; all its words say so together.
        if bytes[start] == UInt8(ascii: "?"), bytes.count >= 8 {
            var rest = bytes.extracting(droppingFirst: start &+ 1)
            // The last word overlaps with what was read before, whose signs only cost a second look.
            var signs = Word.signs(Word.last(bytes))
            while rest.count > 8 {
                signs |= Word.signs(Word.first(rest))
                rest = rest.extracting(droppingFirst: 8)
            }
            if !Word.isAny(signs) {
                self.init(queryEnd: bytes.count)
                return
            }
        }
        self.init(looking: bytes, from: start, fragmentByte)
    }

    @inline(never)
    private init(looking bytes: Span<UInt8>, from start: Int, _ fragmentByte: UInt8) {
        let count = bytes.count
        self.init(queryEnd: start)
        var index = start
        if bytes[index] == UInt8(ascii: "?") {
            index &+= 1
            while index < count, bytes[index] != fragmentByte {
                if bytes[index] == UInt8(ascii: "%") { self.hasEscapes = true }
                index &+= 1
            }
            self.queryEnd = index
        }
        while index < count, !self.hasEscapes {
            self.hasEscapes = bytes[index] == UInt8(ascii: "%")
            index &+= 1
        }
    }
}
