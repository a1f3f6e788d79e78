/// Goes through the items of a query, as ranges of the text.
struct QueryCursor {
    /// One item with a name.
    struct Item {
        var name: Range<Int>
        /// Where the value is; nil when there is not even a `=`.
        var value: Range<Int>?
    }

    private var index: Int
    private let end: Int
    private let takesLastEquals: Bool

    @inline(__always)
    init(_ layout: AddressLayout, _ rules: AddressRules) {
        self.takesLastEquals = rules.takesLastEquals
        self.index = layout.pathEnd &+ 1
        self.end = layout.queryEnd
    }

    /// The next item that has a name.
    @inline(__always)
    mutating func next(_ bytes: Span<UInt8>) -> Item? {
        while self.index < self.end {
            let start = self.index
            var equals = -1
            while self.index < self.end, bytes[self.index] != UInt8(ascii: "&") {
                if equals < 0, bytes[self.index] == UInt8(ascii: "=") { equals = self.index }
                self.index &+= 1
            }
            let stop = self.index
            self.index &+= 1
            var value = equals &+ 1
            if self.takesLastEquals, equals >= 0 {
                value = stop
                while bytes[value &- 1] != UInt8(ascii: "=") { value &-= 1 }
            }
            if equals < 0 {
                if stop > start { return Item(name: start..<stop, value: nil) }
            } else if equals > start {
                return Item(name: start..<equals, value: value..<stop)
            }
        }
        return nil
    }
}
