/// The lookup key of a segment.
///
/// The key of up to seven bytes consists of the bytes and their number. The key of a longer segment is a hash
/// with the high bit set. The bytes may be read as words from the text or one by one from a decoder. Both
/// result in the same key.
///
/// Two segments with the same short key are equal. Texts are therefore compared only if the key is a hash.
struct SegmentKey {
    static let longFlag: UInt64 = 1 << 63

    private(set) var value: UInt64 = 0
    private(set) var count = 0
    private var word: UInt64 = 0

    /// Returns whether the key is a hash, which two different segments may share.
    static func isHash(_ key: UInt64) -> Bool { key & Self.longFlag != 0 }

    /// Returns the key of fewer than eight bytes.
    static func short(_ word: UInt64, _ count: Int) -> UInt64 { word | UInt64(count) &<< 56 }

    /// Returns a hash mixed with another word.
    ///
    /// The last word contains the bytes after the last full word.
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

    /// Returns the key of bytes in the form in which they are compared: decoded and folded.
    static func of(_ bytes: some Sequence<UInt8>) -> UInt64 {
        var key = Self()
        for byte in bytes { key.append(byte) }
        key.finish()
        return key.value
    }
}
