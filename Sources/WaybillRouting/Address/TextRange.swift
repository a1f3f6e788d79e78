/// A part of an address's text, in bytes.
struct TextRange: Sendable, Hashable {
    var start: UInt32 = 0
    var end: UInt32 = 0

    var range: Range<Int> { Int(self.start)..<Int(self.end) }
}

extension TextRange {
    @inline(__always)
    init(_ range: Range<Int>) {
        self.init(
            start: UInt32(truncatingIfNeeded: range.lowerBound),
            end: UInt32(truncatingIfNeeded: range.upperBound)
        )
    }
}
