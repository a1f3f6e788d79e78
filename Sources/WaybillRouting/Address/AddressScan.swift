/// The result of one pass over a URL: its layout, and its segments with their lookup keys.
///
/// ``InlineScan`` stores up to 16 segments without an allocation. If a URL has more segments, the scan is
/// repeated with a ``HeapScan``.
///
/// Accessors are mutating even if they only read. A mutating method receives the address of the scan. A
/// non-mutating method receives the value of the scan, which the compiler would copy to memory to read one
/// element.
protocol AddressScan: ~Copyable {
    var layout: AddressLayout { get set }
    var count: Int { get }
    /// Whether the scan has no space for a segment, which makes its result unusable.
    var hasOverflowed: Bool { get }

    init()
    mutating func append(_ segment: ScannedSegment)
    mutating func segment(_ index: Int) -> ScannedSegment
    mutating func range(_ index: Int) -> URLRange
    mutating func replace(_ index: Int, with segment: ScannedSegment)
    /// Removes the first segment, and moves the start of the path to the second segment.
    mutating func dropFirst()
}

/// One segment: its byte range before decoding, and its lookup key.
struct ScannedSegment {
    var range = URLRange()
    /// The ``SegmentKey`` of the segment in the form in which it is compared: decoded, and case-folded if the
    /// conventions ignore case.
    var key: UInt64 = 0
}

/// A scan of up to 16 segments in inline storage.
struct InlineScan: AddressScan, ~Copyable {
    static let capacity = 16

    var layout = AddressLayout()
    private(set) var count = 0
    private(set) var hasOverflowed = false
    // A literal with 16 elements is initialised in place. `repeating:` would build a temporary array and copy
    // it.
    private var ranges: InlineArray<16, UInt32> = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    private var keys: InlineArray<16, UInt64> = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]

    init() {}

    @inline(__always)
    mutating func append(_ segment: ScannedSegment) {
        // The unsigned comparison also serves as the bounds check.
        guard UInt(bitPattern: self.count) < UInt(Self.capacity) else {
            self.hasOverflowed = true
            return
        }
        self.replace(self.count, with: segment)
        self.count &+= 1
    }

    mutating func segment(_ index: Int) -> ScannedSegment {
        ScannedSegment(range: URLRange(bits: self.ranges[index]), key: self.keys[index])
    }

    mutating func range(_ index: Int) -> URLRange { URLRange(bits: self.ranges[index]) }

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

/// A scan of any number of segments in an array.
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
    /// Parses a URL into an address, and keeps the scanned segments.
    mutating func address(_ text: String, _ rules: RoutingRules) throws(RoutingError) -> Address {
        guard let failure = self.read(text.utf8.span, rules) else {
            return Address(text: text, layout: self.layout, rules: rules)
        }
        let whole = try rules.wholeURL(decodedFrom: text, failure)
        self = HeapScan()
        return try self.address(whole, rules)
    }
}
