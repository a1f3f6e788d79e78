/// A segment whose text is not compared as it stands, with the way back to where each byte came from.
struct DecodedSegment {
    private(set) var bytes: [UInt8] = []
    private var offsets: [Int] = []

    init(_ text: Span<UInt8>, _ segment: ScannedSegment, folding: Bool) {
        var index = segment.range.start
        while index < segment.range.end {
            let (byte, length) = PercentCoding.byte(text, index, segment.range.end)
            self.bytes.append(folding ? ASCII.lowercased(byte) : byte)
            self.offsets.append(index)
            index += length
        }
        self.offsets.append(segment.range.end)
    }

    /// The place in the text that a place in the decoded segment came from.
    func original(_ range: URLRange) -> URLRange {
        URLRange(self.offsets[range.start], self.offsets[range.end])
    }
}
