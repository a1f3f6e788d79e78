/// A segment whose text is not compared as it stands, with the way back to where each byte came from.
struct DecodedSegment {
    private(set) var bytes: [UInt8] = []
    private var offsets: [UInt32] = []

    init(_ text: Span<UInt8>, _ segment: AddressScan.Segment, folding: Bool) {
        var index = Int(segment.start)
        while index < Int(segment.end) {
            let (byte, length) = PercentCoding.byte(text, index, Int(segment.end))
            self.bytes.append(folding ? ASCII.lowercased(byte) : byte)
            self.offsets.append(UInt32(truncatingIfNeeded: index))
            index += length
        }
        self.offsets.append(segment.end)
    }

    /// The place in the text that a place in the decoded segment came from.
    func original(_ range: TextRange) -> TextRange {
        TextRange(start: self.offsets[Int(range.start)], end: self.offsets[Int(range.end)])
    }
}
