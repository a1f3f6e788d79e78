/// A part of an address's text, in bytes.
struct TextRange: Sendable, Hashable {
    var start: UInt32 = 0
    var end: UInt32 = 0

    var range: Range<Int> { Int(self.start)..<Int(self.end) }
}

/// What a match captured, in the order of the pattern; the first eight need no memory of their own.
struct Captures: Sendable {
    static let inlineCapacity = 8

    private(set) var count: UInt32 = 0
    private var first = InlineArray<8, TextRange>(repeating: TextRange())
    private var rest: [TextRange] = []

    @inline(__always)
    init() {}

    @inline(__always)
    subscript(index: Int) -> TextRange {
        index < Self.inlineCapacity ? self.first[index] : self.rest[index &- Self.inlineCapacity]
    }

    @inline(__always)
    mutating func append(_ range: TextRange) {
        if self.count < Self.inlineCapacity {
            self.first[Int(self.count)] = range
        } else {
            self.overflow(range)
        }
        self.count &+= 1
    }

    /// Puts another range in the place of one.
    mutating func replace(_ index: Int, with range: TextRange) {
        if index < Self.inlineCapacity {
            self.first[index] = range
        } else {
            self.rest[index - Self.inlineCapacity] = range
        }
    }

    /// Forgets all but the first ones.
    @inline(__always)
    mutating func truncate(to count: UInt32) {
        if self.count > Self.inlineCapacity { self.shrink(to: count) }
        self.count = count
    }

    @inline(never)
    private mutating func overflow(_ range: TextRange) { self.rest.append(range) }

    @inline(never)
    private mutating func shrink(to count: UInt32) {
        self.rest.removeLast(self.rest.count - max(0, Int(count) - Self.inlineCapacity))
    }
}
