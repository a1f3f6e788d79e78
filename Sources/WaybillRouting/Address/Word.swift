/// Eight bytes at a time: how the scanner looks for delimiters without looking at every byte.
enum Word {
    static let ones: UInt64 = 0x0101_0101_0101_0101
    static let highs: UInt64 = 0x8080_8080_8080_8080
    static let lows: UInt64 = 0x7f7f_7f7f_7f7f_7f7f

    /// The eight bytes at `index`, first byte lowest; what lies behind the end is zero.
    @inline(__always)
    static func load(_ bytes: Span<UInt8>, _ index: Int) -> UInt64 {
        guard index &+ 8 <= bytes.count else { return Self.loadTail(bytes, index) }
        let eight = bytes.extracting(index..<index &+ 8)
        return UInt64(eight[0]) | UInt64(eight[1]) &<< 8 | UInt64(eight[2]) &<< 16
            | UInt64(eight[3]) &<< 24 | UInt64(eight[4]) &<< 32 | UInt64(eight[5]) &<< 40
            | UInt64(eight[6]) &<< 48 | UInt64(eight[7]) &<< 56
    }

    @inline(never)
    private static func loadTail(_ bytes: Span<UInt8>, _ index: Int) -> UInt64 {
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

    /// The high bit of each byte that equals `byte`, and no other bit.
    @inline(__always)
    static func mask(_ word: UInt64, _ byte: UInt8) -> UInt64 {
        let difference = word ^ (Self.ones &* UInt64(byte))
        return ~(((difference & Self.lows) &+ Self.lows) | difference | Self.lows)
    }

    /// Which byte the lowest bit of a non-zero mask belongs to.
    @inline(__always)
    static func firstIndex(_ mask: UInt64) -> Int { mask.trailingZeroBitCount &>> 3 }

    /// The first `count` bytes, fewer than eight, the rest zero.
    @inline(__always)
    static func prefix(_ word: UInt64, _ count: Int) -> UInt64 { word & ((1 &<< UInt64(count &* 8)) &- 1) }
}
