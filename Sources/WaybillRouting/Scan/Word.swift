/// Eight bytes at a time: how the scanner looks for delimiters without looking at every byte.
enum Word {
    static let ones: UInt64 = 0x0101_0101_0101_0101
    static let highs: UInt64 = 0x8080_8080_8080_8080

    /// The eight bytes at `index`, first byte lowest; what lies behind the end is zero.
    @inline(__always)
    static func load(_ bytes: Span<UInt8>, _ index: Int) -> UInt64 {
        if index &+ 8 <= bytes.count { return self.loadEight(bytes, index) }
        // The last bytes are loaded together with those before them, which are shifted out.
        guard index < bytes.count, bytes.count >= 8 else { return self.loadFew(bytes, index) }
        return self.loadEight(bytes, bytes.count &- 8) &>> UInt64((index &+ 8 &- bytes.count) &* 8)
    }

    /// Spelled like this, eight checks and eight loads become one of each.
    @inline(__always)
    private static func loadEight(_ bytes: Span<UInt8>, _ index: Int) -> UInt64 {
        let rest = bytes.extracting(droppingFirst: index)
        guard rest.count >= 8 else { return 0 }
        return UInt64(rest[0]) | UInt64(rest[1]) &<< 8 | UInt64(rest[2]) &<< 16
            | UInt64(rest[3]) &<< 24 | UInt64(rest[4]) &<< 32 | UInt64(rest[5]) &<< 40
            | UInt64(rest[6]) &<< 48 | UInt64(rest[7]) &<< 56
    }

    @inline(never)
    private static func loadFew(_ bytes: Span<UInt8>, _ index: Int) -> UInt64 {
        var word: UInt64 = 0
        var shift: UInt64 = 0
        var index = index
        while index < bytes.count {
            word |= UInt64(bytes[index]) &<< shift
            shift &+= 8
            index &+= 1
        }
        return word
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

    @inline(__always)
    private static func zeros(_ word: UInt64) -> UInt64 { (word &- Self.ones) & ~word & Self.highs }

    /// Which byte the lowest bit of a non-zero mask belongs to.
    @inline(__always)
    static func firstIndex(_ mask: UInt64) -> Int { mask.trailingZeroBitCount &>> 3 }

    /// The first `count` bytes, fewer than eight, the rest zero.
    @inline(__always)
    static func prefix(_ word: UInt64, _ count: Int) -> UInt64 { word & ((1 &<< UInt64(count &* 8)) &- 1) }
}
