/// A lookup of a name in a query that has no `%`, under the default query rules.
///
/// Nearly every lookup is of this kind.
enum UnescapedQuery {
    /// Returns the range of the value of the last item with the given name, or the empty range at 0 when no
    /// item has the name.
    ///
    /// The empty range at 0 is unambiguous, because no value begins at offset 0.
    static func value(of name: Span<UInt8>, in bytes: Span<UInt8>, _ layout: AddressLayout) -> URLRange {
        let count = name.count
        guard count < 8 else { return Self.value(ofLong: name, in: bytes, layout) }
        let mask = ByteWord.prefix(.max, count)
        let wanted = ByteWord.few(name)
        var found = URLRange()
        // An item without a name is ignored, so the empty name has no value.
        guard count > 0 else { return found }
        let end = layout.queryEnd
        var start = layout.pathEnd &+ 1
        while start < end {
            let word = ByteWord.load(bytes, start)
            let next = Self.end(ofItem: word, start, end: end, bytes: bytes)
            if (word ^ wanted) & mask == 0 {
                // A name ends at the first `=`, or at the end of the item.
                let stop =
                    start &+ min(ByteWord.firstIndex(ByteWord.mask(word, UInt8(ascii: "="))), next &- start)
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
        let wanted = ByteWord.load(name, 0)
        var found = URLRange()
        var start = layout.pathEnd &+ 1
        while start < end {
            let word = ByteWord.load(bytes, start)
            let next = Self.end(ofItem: word, start, end: end, bytes: bytes)
            let stop = start &+ name.count
            if word == wanted, stop <= next, Self.isSame(name, bytes: bytes, start: start) {
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

    /// Returns whether an item begins with a name.
    ///
    /// The result is false for a name that contains `=`, because `=` ends the name of an item.
    private static func isSame(_ name: Span<UInt8>, bytes: Span<UInt8>, start: Int) -> Bool {
        for index in name.indices {
            let byte = bytes[start &+ index]
            if byte != name[index] || byte == UInt8(ascii: "=") { return false }
        }
        return true
    }

    /// Returns the end of an item whose first word has been loaded already.
    private static func end(ofItem word: UInt64, _ start: Int, end: Int, bytes: Span<UInt8>) -> Int {
        let ends = ByteWord.mask(word, UInt8(ascii: "&"))
        if ends == 0, start &+ 8 < end { return Self.end(from: start &+ 8, end, bytes) }
        return min(start &+ ByteWord.firstIndex(ends), end)
    }

    @inline(never)
    private static func end(from start: Int, _ end: Int, _ bytes: Span<UInt8>) -> Int {
        var index = start
        while index < end {
            let ends = ByteWord.mask(ByteWord.load(bytes, index), UInt8(ascii: "&"))
            if ends != 0 { return min(index &+ ByteWord.firstIndex(ends), end) }
            index &+= 8
        }
        return end
    }
}

/// An iterator over the items of a query, as byte ranges.
struct QueryItems {
    /// A query item that has a name.
    struct Item {
        var name: Range<Int>
        /// The range of the value; nil when the item has no `=`.
        var value: Range<Int>?
    }

    private var index: Int
    private let end: Int
    private let splitsAtLastEquals: Bool

    @inline(__always)
    init(_ layout: AddressLayout, _ rules: RoutingRules) {
        self.splitsAtLastEquals = rules.splitsAtLastEquals
        self.index = layout.pathEnd &+ 1
        self.end = layout.queryEnd
    }

    /// Returns the next item that has a name.
    @inline(__always)
    mutating func next(_ bytes: Span<UInt8>) -> Item? {
        while self.index < self.end {
            let start = self.index
            var equals = -1
            while self.index < self.end, bytes[self.index] != UInt8(ascii: "&") {
                if equals < 0, bytes[self.index] == UInt8(ascii: "=") { equals = self.index }
                self.index &+= 1
            }
            let stop = self.index
            self.index &+= 1
            var value = equals &+ 1
            if self.splitsAtLastEquals, equals >= 0 {
                value = stop
                while bytes[value &- 1] != UInt8(ascii: "=") { value &-= 1 }
            }
            if equals < 0 {
                if stop > start { return Item(name: start..<stop, value: nil) }
            } else if equals > start {
                return Item(name: start..<equals, value: value..<stop)
            }
        }
        return nil
    }
}
