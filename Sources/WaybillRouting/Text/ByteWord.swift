/// Eight bytes in a `UInt64`.
///
/// Delimiters are found in all eight bytes at once (SIMD within a register).
package enum ByteWord {
    static var ones: UInt64 { 0x0101_0101_0101_0101 }
    static var highs: UInt64 { 0x8080_8080_8080_8080 }

    /// Loads the eight bytes at `index`.
    ///
    /// The first byte is the lowest byte, and bytes beyond the end of the span are zero.
    static func load(_ bytes: Span<UInt8>, _ index: Int) -> UInt64 { self.loadWithEnd(bytes, index).word }

    /// Loads the eight bytes at `index`, and a mask of the end of the span.
    ///
    /// The lowest set bit of the mask is in the byte after the end of the span. The mask is zero if all eight
    /// bytes are in the span.
    @inline(__always)
    static func loadWithEnd(_ bytes: Span<UInt8>, _ index: Int) -> (word: UInt64, end: UInt64) {
        let left = bytes.count &- index
        if left >= 8 { return (self.eight(bytes, at: index), 0) }
        guard left > 0 else { return (0, 0x80) }
        let end = 0x80 &<< UInt64(left &* 8)
        guard bytes.count >= 8 else { return (self.loadFew(bytes, index), end) }
        // Load the last eight bytes and shift out the bytes before `index`.
        return (self.last(bytes) &>> UInt64((8 &- left) &* 8), end)
    }

    /// Returns the eight bytes at `index`, or traps if the span has fewer bytes.
    @inline(__always)
    static func eight(_ bytes: Span<UInt8>, at index: Int) -> UInt64 {
        // The function is unsafe only for types with invalid bits. Every eight bytes are a valid `UInt64`,
        // and the function checks the bounds.
        unsafe UInt64(littleEndian: bytes.bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self))
    }

    /// Returns the last eight bytes of a span, which must have at least eight bytes.
    static func last(_ bytes: Span<UInt8>) -> UInt64 { self.eight(bytes, at: bytes.count &- 8) }

    @inline(never)
    private static func loadFew(_ bytes: Span<UInt8>, _ index: Int) -> UInt64 {
        index < bytes.count ? self.few(bytes.extracting(droppingFirst: index)) : 0
    }

    /// Returns the bytes of a span of fewer than eight bytes, with loads that may overlap.
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

    private static func four(_ bytes: Span<UInt8>) -> UInt64 {
        guard bytes.count >= 4 else { return 0 }
        return UInt64(bytes[0]) | UInt64(bytes[1]) &<< 8 | UInt64(bytes[2]) &<< 16 | UInt64(bytes[3]) &<< 24
    }

    /// Returns whether two spans, which must have the same length of at least eight bytes, are equal.
    @inline(__always)
    static func areEqual(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
        // The last eight bytes may overlap the words before them.
        guard self.last(left) == self.last(right) else { return false }
        var index = 0
        while index &+ 8 < left.count {
            if self.eight(left, at: index) != self.eight(right, at: index) { return false }
            index &+= 8
        }
        return true
    }

    /// Returns a mask whose lowest set bit is in the first byte that equals `byte`, or zero when no byte
    /// equals it.
    ///
    /// Only the lowest set bit is reliable.
    static func mask(_ word: UInt64, _ byte: UInt8) -> UInt64 {
        self.zeros(word ^ (Self.ones &* UInt64(byte)))
    }

    /// Returns a mask whose lowest set bit is in the first byte below `limit`, which must be at most 128.
    static func mask(_ word: UInt64, below limit: UInt8) -> UInt64 {
        (word &- Self.ones &* UInt64(limit)) & ~word & Self.highs
    }

    /// Returns a mask whose lowest set bit is in the first `/` or `?`, the delimiters of a segment.
    static func segmentEnds(_ word: UInt64) -> UInt64 {
        self.zeros((word | (Self.ones &* 0x10)) ^ (Self.ones &* UInt64(UInt8(ascii: "?"))))
    }

    /// Marks the bytes `#` and `%`.
    ///
    /// The method also marks `!` and `'`, because they differ only in bits that it ignores.
    static func signs(_ word: UInt64) -> UInt64 {
        let signs = (word | (Self.ones &* 0x06)) ^ (Self.ones &* 0x27)
        return (signs &- Self.ones) & ~word
    }

    /// Marks the bytes that equal `byte`, each by its highest bit.
    static func signs(_ word: UInt64, _ byte: UInt8) -> UInt64 {
        ((word ^ (Self.ones &* UInt64(byte))) &- Self.ones) & ~word
    }

    /// Returns whether any byte is marked.
    ///
    /// The marks of several words may be combined by `|`.
    static func isAny(_ signs: UInt64) -> Bool { signs & Self.highs != 0 }

    static func zeros(_ word: UInt64) -> UInt64 { (word &- Self.ones) & ~word & Self.highs }

    /// Returns the index of the byte that contains the lowest set bit of a non-zero mask.
    static func firstIndex(_ mask: UInt64) -> Int { mask.trailingZeroBitCount &>> 3 }

    /// Returns the number of bytes before the first control character or the first of two other ASCII bytes.
    ///
    /// The loop is in this module because Swift 6.3 does not inline `package` functions into other modules,
    /// even if they are `@inlinable`.
    package static func count(
        of bytes: Span<UInt8>,
        beforeControlOr first: UInt8,
        _ second: UInt8
    ) -> Int {
        var index = 0
        // Most texts are short, so the search ends within two words.
        while index &+ 8 <= bytes.count {
            let ends = self.ends(bytes, index: index, first: first, second: second)
            if ends != 0 { return index &+ self.firstIndex(ends) }
            index &+= 8
            guard index == 16 else { continue }
            // In a longer text, eight words share one branch, and the loop uses the processor's vector
            // instructions.
            let vectors = VectorEnds(first, second)
            while bytes.count &- index >= 64, !vectors.isAny(in: bytes, at: index) { index &+= 64 }
        }
        while index < bytes.count {
            let byte = bytes[index]
            if byte < 0x20 || byte == first || byte == second { break }
            index &+= 1
        }
        return index
    }

    private static func ends(
        _ bytes: Span<UInt8>,
        index: Int,
        first: UInt8,
        second: UInt8
    ) -> UInt64 {
        let word = self.eight(bytes, at: index)
        return self.mask(word, below: 0x20) | self.mask(word, first) | self.mask(word, second)
    }

    /// Keeps the first `count` bytes, which must be fewer than eight, and clears the other bytes.
    static func prefix(_ word: UInt64, _ count: Int) -> UInt64 { word & ((1 &<< UInt64(count &* 8)) &- 1) }
}

/// A search for control characters and two given ASCII bytes, which reads 64 bytes at a time.
private struct VectorEnds {
    private let first: SIMD4<UInt64>
    private let second: SIMD4<UInt64>

    init(_ first: UInt8, _ second: UInt8) {
        self.first = SIMD4(repeating: ByteWord.ones &* UInt64(first))
        self.second = SIMD4(repeating: ByteWord.ones &* UInt64(second))
    }

    /// Returns whether any of the 64 bytes at an index is searched, or traps if the span has fewer bytes.
    func isAny(in bytes: Span<UInt8>, at index: Int) -> Bool {
        let marks = self.marks(Self.four(bytes, index)) | self.marks(Self.four(bytes, index &+ 32))
        return ByteWord.isAny(marks[0] | marks[1] | marks[2] | marks[3])
    }

    private func marks(_ words: SIMD4<UInt64>) -> SIMD4<UInt64> {
        let ones = SIMD4(repeating: ByteWord.ones)
        // Bytes that are not ASCII never match, because all searched bytes have a highest bit of zero.
        return ((words &- ones &* 0x20) | ((words ^ self.first) &- ones) | ((words ^ self.second) &- ones))
            & ~words
    }

    private static func four(_ bytes: Span<UInt8>, _ index: Int) -> SIMD4<UInt64> {
        // The function is unsafe only for types with invalid bits. Any 32 bytes are four words, and the
        // function checks the bounds.
        unsafe bytes.bytes.unsafeLoadUnaligned(fromByteOffset: index, as: SIMD4<UInt64>.self)
    }
}

extension String {
    /// Returns whether another text has the same bytes.
    ///
    /// `==` also returns true for texts that look equal but have other bytes, such as `é` as one or two
    /// characters. As URLs, these texts are different.
    package func hasSameBytes(as other: String) -> Bool {
        let (own, other) = (self.utf8.span, other.utf8.span)
        guard own.count == other.count else { return false }
        if own.count >= 8 { return ByteWord.areEqual(own, other) }
        return ByteWord.few(own) == ByteWord.few(other)
    }
}
