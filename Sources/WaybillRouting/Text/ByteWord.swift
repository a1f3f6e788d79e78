/// Eight bytes at a time: how the scanner looks for delimiters without looking at every byte.
enum ByteWord {
    static let ones: UInt64 = 0x0101_0101_0101_0101
    static let highs: UInt64 = 0x8080_8080_8080_8080

    /// The eight bytes at `index`, first byte lowest; what lies behind the end is zero.
    @inline(__always)
    static func load(_ bytes: Span<UInt8>, _ index: Int) -> UInt64 {
        if index &+ 8 <= bytes.count { return self.first(bytes.extracting(index..<(index &+ 8))) }
        // The last bytes are loaded together with those before them, which are shifted out.
        guard index < bytes.count, bytes.count >= 8 else { return self.loadFew(bytes, index) }
        return self.last(bytes) &>> UInt64((index &+ 8 &- bytes.count) &* 8)
    }

    /// The first eight bytes of at least eight; spelled like this, eight checks and eight loads become one of each.
    @inline(__always)
    static func first(_ bytes: Span<UInt8>) -> UInt64 {
        guard bytes.count >= 8 else { return 0 }
        return UInt64(bytes[0]) | UInt64(bytes[1]) &<< 8 | UInt64(bytes[2]) &<< 16
            | UInt64(bytes[3]) &<< 24 | UInt64(bytes[4]) &<< 32 | UInt64(bytes[5]) &<< 40
            | UInt64(bytes[6]) &<< 48 | UInt64(bytes[7]) &<< 56
    }

    /// The last eight bytes of at least eight.
    @inline(__always)
    static func last(_ bytes: Span<UInt8>) -> UInt64 {
        self.first(bytes.extracting(droppingFirst: bytes.count &- 8))
    }

    @inline(never)
    private static func loadFew(_ bytes: Span<UInt8>, _ index: Int) -> UInt64 {
        index < bytes.count ? self.few(bytes.extracting(droppingFirst: index)) : 0
    }

    /// Fewer than eight bytes: from both ends, which may overlap.
    @inline(__always)
    static func few(_ bytes: Span<UInt8>) -> UInt64 {
        let count = bytes.count
        if count >= 4 {
            let tail = bytes.extracting(droppingFirst: count &- 4)
            return self.four(bytes) | self.four(tail) &<< UInt64((count &- 4) &* 8)
        }
        guard count > 0 else { return 0 }
        let middle = count &>> 1
        return UInt64(bytes[0]) | UInt64(bytes[middle]) &<< UInt64(middle &* 8)
            | UInt64(bytes[count &- 1]) &<< UInt64((count &- 1) &* 8)
    }

    @inline(__always)
    private static func four(_ bytes: Span<UInt8>) -> UInt64 {
        guard bytes.count >= 4 else { return 0 }
        return UInt64(bytes[0]) | UInt64(bytes[1]) &<< 8 | UInt64(bytes[2]) &<< 16 | UInt64(bytes[3]) &<< 24
    }

    /// A mask whose lowest bit is in the first byte that equals `byte`, and that is zero when there is none.
    ///
    /// Bits behind the first byte say nothing.
    @inline(__always)
    static func mask(_ word: UInt64, _ byte: UInt8) -> UInt64 {
        self.zeros(word ^ (Self.ones &* UInt64(byte)))
    }

    /// The same for the two bytes that end a segment, `/` and `?`, which differ in one bit.
    @inline(__always)
    static func segmentEnds(_ word: UInt64) -> UInt64 {
        self.zeros((word | (Self.ones &* 0x10)) ^ (Self.ones &* UInt64(UInt8(ascii: "?"))))
    }

    /// Marks for a fragment's `#` and the `%` of an escape, and for the two bytes that are neither but look like them.
    @inline(__always)
    static func signs(_ word: UInt64) -> UInt64 {
        let signs = (word | (Self.ones &* 0x06)) ^ (Self.ones &* 0x27)
        return (signs &- Self.ones) & ~word
    }

    /// Whether there is a mark among those of one word, or of several joined by `|`.
    @inline(__always)
    static func isAny(_ signs: UInt64) -> Bool { signs & Self.highs != 0 }

    @inline(__always)
    private static func zeros(_ word: UInt64) -> UInt64 { (word &- Self.ones) & ~word & Self.highs }

    /// Which byte the lowest bit of a non-zero mask belongs to.
    @inline(__always)
    static func firstIndex(_ mask: UInt64) -> Int { mask.trailingZeroBitCount &>> 3 }

    /// The first `count` bytes, fewer than eight, the rest zero.
    @inline(__always)
    static func prefix(_ word: UInt64, _ count: Int) -> UInt64 { word & ((1 &<< UInt64(count &* 8)) &- 1) }
}
