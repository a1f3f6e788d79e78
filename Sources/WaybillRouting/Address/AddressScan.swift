/// What one pass over the text of an address finds: its layout, and its segments with their keys.
///
/// There are two: ``InlineScan`` has room for what most addresses have and needs no memory of its own; where it gets
/// full, ``HeapScan`` is used instead. Methods are mutating even where they only read: those get the address of the
/// scan, while others get its value, which the compiler would put into memory as a whole to read one element of it.
protocol AddressScan: ~Copyable {
    var layout: AddressLayout { get set }
    var count: Int { get }
    /// Whether there was no room for a segment, so that nothing found is to be relied on.
    var hasOverflowed: Bool { get }

    init()
    mutating func append(_ segment: ScannedSegment)
    mutating func segment(_ index: Int) -> ScannedSegment
    mutating func range(_ index: Int) -> URLRange
    mutating func replace(_ index: Int, with segment: ScannedSegment)
    /// Takes the first segment away.
    mutating func dropFirst()
}

/// One segment of the text, not decoded.
struct ScannedSegment {
    var range = URLRange()
    /// The key of the segment as it is compared: decoded, and folded if the conventions say so.
    var key: UInt64 = 0
}

/// A scan of up to sixteen segments, which lie beside it.
struct InlineScan: AddressScan, ~Copyable {
    static let capacity = 16

    var layout = AddressLayout()
    private(set) var count = 0
    private(set) var hasOverflowed = false
    // Written out, the values are put where they belong; repeated ones are made elsewhere and copied.
    private var ranges: InlineArray<16, UInt32> = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    private var keys: InlineArray<16, UInt64> = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]

    @inline(__always)
    init() {}

    @inline(__always)
    mutating func append(_ segment: ScannedSegment) {
        guard self.count < Self.capacity else {
            self.hasOverflowed = true
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

/// A scan of any number of segments.
struct HeapScan: AddressScan, ~Copyable {
    var layout = AddressLayout()
    private var segments: [ScannedSegment] = []

    var count: Int { self.segments.count }
    var hasOverflowed: Bool { false }

    mutating func append(_ segment: ScannedSegment) { self.segments.append(segment) }

    mutating func segment(_ index: Int) -> ScannedSegment { self.segments[index] }

    mutating func range(_ index: Int) -> URLRange { self.segments[index].range }

    mutating func replace(_ index: Int, with segment: ScannedSegment) { self.segments[index] = segment }

    mutating func dropFirst() {
        self.segments.removeFirst()
        self.layout.pathStart = self.segments.first?.range.start ?? self.layout.pathEnd
    }
}

extension HeapScan {
    /// Reads a text and keeps what was found beside the address.
    mutating func address(_ text: String, _ rules: RoutingRules) throws(RoutingError) -> Address {
        guard let failure = self.read(text.utf8.span, rules) else {
            return Address(text: text, layout: self.layout, rules: rules)
        }
        guard let whole = rules.wholeURL(decodedFrom: text, failure) else {
            throw failure.routingError(text, rules.limits)
        }
        self = HeapScan()
        return try self.address(whole, rules)
    }
}
