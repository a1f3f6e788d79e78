/// A scan of up to sixteen segments, which lie beside it.
struct SmallScan: AddressScan, ~Copyable {
    static let capacity = 16

    var layout = AddressLayout()
    private(set) var count = 0
    private(set) var isFull = false
    // Written out, the values are put where they belong; repeated ones are made elsewhere and copied.
    private var ranges: InlineArray<16, UInt32> = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    private var keys: InlineArray<16, UInt64> = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]

    @inline(__always)
    init() {}

    @inline(__always)
    mutating func append(_ segment: ScannedSegment) {
        guard self.count < Self.capacity else {
            self.isFull = true
            return
        }
        self.replace(self.count, with: segment)
        self.count &+= 1
    }

    @inline(__always)
    mutating func segment(_ index: Int) -> ScannedSegment {
        ScannedSegment(range: URLRange(bits: self.ranges[index]), key: self.keys[index])
    }

    @inline(__always)
    mutating func range(_ index: Int) -> URLRange { URLRange(bits: self.ranges[index]) }

    @inline(__always)
    mutating func replace(_ index: Int, with segment: ScannedSegment) {
        self.ranges[index] = segment.range.bits
        self.keys[index] = segment.key
    }

    mutating func dropFirst() {
        for index in 1..<self.count { self.replace(index - 1, with: self.segment(index)) }
        self.count -= 1
        self.layout.pathStart = self.count > 0 ? self.range(0).start : self.layout.pathEnd
    }
}
