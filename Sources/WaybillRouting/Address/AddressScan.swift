/// What one pass over the text of an address finds: its layout, and its segments with their keys.
struct AddressScan {
    /// One segment of the text, not decoded.
    struct Segment {
        var start: UInt32 = 0
        var end: UInt32 = 0
        /// The key of the segment as it is compared: decoded, and folded if the conventions say so.
        var key: UInt64 = 0
    }

    static let inlineCapacity = 16

    var layout = AddressLayout()
    var count = 0
    /// The first segments lie here so that most addresses need no memory of their own.
    private var first = InlineArray<16, Segment>(repeating: Segment())
    private var rest: [Segment] = []

    @inline(__always)
    init() {}

    @inline(__always)
    subscript(index: Int) -> Segment {
        get { index < Self.inlineCapacity ? self.first[index] : self.rest[index &- Self.inlineCapacity] }
        set {
            if index < Self.inlineCapacity {
                self.first[index] = newValue
            } else {
                self.rest[index &- Self.inlineCapacity] = newValue
            }
        }
    }

    @inline(__always)
    mutating func append(_ segment: Segment) {
        if self.count < Self.inlineCapacity {
            self.first[self.count] = segment
        } else {
            self.overflow(segment)
        }
        self.count &+= 1
    }

    @inline(never)
    private mutating func overflow(_ segment: Segment) { self.rest.append(segment) }

    /// Takes the first segment away.
    mutating func dropFirst() {
        for index in 1..<self.count { self[index - 1] = self[index] }
        if self.count > Self.inlineCapacity { self.rest.removeLast() }
        self.count -= 1
        self.layout.pathStart = self.count > 0 ? self[0].start : self.layout.pathEnd
    }
}
