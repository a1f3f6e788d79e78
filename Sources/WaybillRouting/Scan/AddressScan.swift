/// What one pass over the text of an address finds: its layout, and its segments with their keys.
///
/// There are two: ``SmallScan`` has room for what most addresses have and needs no memory of its own; where it gets
/// full, ``LargeScan`` is used instead. Methods are mutating even where they only read: those get the address of the
/// scan, while others get its value, which the compiler would put into memory as a whole to read one element of it.
protocol AddressScan: ~Copyable {
    var layout: AddressLayout { get set }
    var count: Int { get }
    /// Whether there was no room for a segment, so that nothing found is to be relied on.
    var isFull: Bool { get }

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
