extension TextPool {
    /// Whether a text of at least eight bytes is the same as a segment.
    ///
    /// Inlined, it would take the registers that the walk needs.
    @inline(never)
    func equals(_ text: TextRange, _ segment: ScannedSegment, of other: Span<UInt8>) -> Bool {
        guard segment.range.count == Int(text.end &- text.start) else { return false }
        var left = self.bytes.span.extracting(text.range)
        var right = other.extracting(segment.range.range)
        // The last eight bytes overlap with those before.
        guard Word.last(left) == Word.last(right) else { return false }
        while left.count > 8 {
            if Word.first(left) != Word.first(right) { return false }
            left = left.extracting(droppingFirst: 8)
            right = right.extracting(droppingFirst: 8)
        }
        return true
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
