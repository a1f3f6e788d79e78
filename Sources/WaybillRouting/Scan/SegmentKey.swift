/// What a segment is looked up by: its bytes and their number when there are at most seven, else a hash of them.
///
/// The same key comes out whether the bytes arrive a word at a time from the text or one by one from a decoder. Short
/// keys are equal only for equal segments, so what they find need not be compared again.
struct SegmentKey {
    static let longFlag: UInt64 = 1 << 63

    private(set) var value: UInt64 = 0
    private(set) var count = 0
    private var word: UInt64 = 0

    /// Whether a key is a hash, so that equal keys need not mean equal segments.
    @inline(__always)
    static func isHash(_ key: UInt64) -> Bool { key & Self.longFlag != 0 }

    /// The key of fewer than eight bytes.
    @inline(__always)
    static func short(_ word: UInt64, _ count: Int) -> UInt64 { word | UInt64(count) &<< 56 }

    /// Joins the next full word, or what is left behind the last one, to what was hashed before.
    @inline(__always)
    static func mix(_ hash: UInt64, _ word: UInt64) -> UInt64 {
        let mixed = (hash ^ word) &* 0x9e37_79b9_7f4a_7c15
        return mixed ^ (mixed &>> 32)
    }

    mutating func append(_ byte: UInt8) {
        self.word |= UInt64(byte) &<< UInt64((self.count & 7) &* 8)
        self.count += 1
        if self.count & 7 == 0 {
            self.value = Self.mix(self.value, self.word)
            self.word = 0
        }
    }

    mutating func finish() {
        if self.count < 8 {
            self.value = Self.short(self.word, self.count)
        } else {
            if self.count & 7 != 0 { self.value = Self.mix(self.value, self.word) }
            self.value |= Self.longFlag
        }
    }

    /// The key of some bytes that are already as they are compared.
    static func of(_ bytes: some Sequence<UInt8>) -> UInt64 {
        var key = Self()
        for byte in bytes { key.append(byte) }
        key.finish()
        return key.value
    }
}
