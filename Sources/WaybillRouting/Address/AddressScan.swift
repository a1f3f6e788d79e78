/// What one pass over the text of an address finds: its layout, and its segments with their keys.
///
/// It is large, so it is never copied.
struct AddressScan: ~Copyable {
    /// One segment of the text, not decoded.
    struct Segment {
        var range = URLRange()
        /// The key of the segment as it is compared: decoded, and folded if the conventions say so.
        var key: UInt64 = 0
    }

    static let inlineCapacity = 16

    var layout = AddressLayout()
    private(set) var count = 0
    /// The first segments lie here so that most addresses need no memory of their own.
    ///
    /// Written out, the values are put where they belong; repeated ones are made elsewhere and copied.
    private var ranges: InlineArray<16, UInt32> = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    private var keys: InlineArray<16, UInt64> = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    private var rest: [Segment]?

    @inline(__always)
    init() {}

    // Elements are read by methods that could change the scan, since these get its address; the others get its value,
    // which the compiler puts into memory as a whole to read one element of it.

    @inline(__always)
    mutating func range(_ index: Int) -> URLRange {
        index < Self.inlineCapacity ? URLRange(bits: self.ranges[index]) : self.overflowing(index).range
    }

    @inline(__always)
    mutating func segment(_ index: Int) -> Segment {
        index < Self.inlineCapacity
            ? Segment(range: URLRange(bits: self.ranges[index]), key: self.keys[index])
            : self.overflowing(index)
    }

    @inline(__always)
    mutating func append(_ segment: Segment) {
        let count = self.count
        if count < Self.inlineCapacity {
            self.set(count, segment)
        } else {
            self.overflow(segment)
        }
        self.count = count &+ 1
    }

    @inline(__always)
    private mutating func set(_ index: Int, _ segment: Segment) {
        self.ranges[index] = segment.range.bits
        self.keys[index] = segment.key
    }

    mutating func replace(_ index: Int, with segment: Segment) {
        if index < Self.inlineCapacity {
            self.set(index, segment)
        } else {
            self.rest?[index - Self.inlineCapacity] = segment
        }
    }

    /// Takes the first segment away.
    mutating func dropFirst() {
        for index in 1..<self.count { self.replace(index - 1, with: self.segment(index)) }
        if self.count > Self.inlineCapacity { self.rest?.removeLast() }
        self.count -= 1
        self.layout.pathStart = self.count > 0 ? self.range(0).start : self.layout.pathEnd
    }

    @inline(never)
    private func overflowing(_ index: Int) -> Segment { self.rest?[index - Self.inlineCapacity] ?? Segment() }

    @inline(never)
    private mutating func overflow(_ segment: Segment) {
        if self.rest == nil { self.rest = [] }
        self.rest?.append(segment)
    }
}
