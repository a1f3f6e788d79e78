extension TextPool {
    /// Whether a text of at least eight bytes is the same as a segment.
    ///
    /// Inlined, it would take the registers that the walk needs.
    @inline(never)
    func equals(_ text: TextRange, _ segment: ScannedSegment, of other: Span<UInt8>) -> Bool {
        let length = segment.range.count
        guard length == Int(text.end &- text.start) else { return false }
        let own = self.bytes.span
        let (left, right) = (Int(text.start), segment.range.start)
        var index = 0
        while index &+ 8 <= length {
            if Word.load(own, left &+ index) != Word.load(other, right &+ index) { return false }
            index &+= 8
        }
        // The last eight bytes overlap with those before.
        return Word.load(own, left &+ length &- 8) == Word.load(other, right &+ length &- 8)
    }

    /// Whether a text is the same as a segment that has to be decoded or folded for it.
    @inline(never)
    func equals(
        _ text: TextRange,
        decoding segment: ScannedSegment,
        of other: Span<UInt8>,
        folding: Bool
    ) -> Bool {
        var index = segment.range.start
        var place = Int(text.start)
        while index < segment.range.end {
            let (byte, length) = PercentCoding.byte(other, index, segment.range.end)
            let wanted = folding ? ASCII.lowercased(byte) : byte
            guard place < Int(text.end), self.bytes[place] == wanted else { return false }
            index += length
            place += 1
        }
        return place == Int(text.end)
    }
}
