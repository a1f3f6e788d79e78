/// A part of a URL's text, in bytes; two of them fill one word of a match.
struct URLRange: Sendable, Hashable {
    /// The longest URL that ranges can describe.
    static let longest = Int(UInt16.max)

    var bits: UInt32 = 0

    @inline(__always)
    init() {}

    @inline(__always)
    init(bits: UInt32) { self.bits = bits }

    @inline(__always)
    init(_ start: Int, _ end: Int) {
        self.bits = UInt32(truncatingIfNeeded: start) | UInt32(truncatingIfNeeded: end) &<< 16
    }

    init(_ range: Range<Int>) { self.init(range.lowerBound, range.upperBound) }

    @inline(__always)
    var start: Int { Int(self.bits & 0xffff) }

    @inline(__always)
    var end: Int { Int(self.bits &>> 16) }

    @inline(__always)
    var count: Int { self.end &- self.start }

    var range: Range<Int> { self.start..<self.end }
}
