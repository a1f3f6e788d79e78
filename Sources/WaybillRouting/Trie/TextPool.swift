/// The texts of a table, concatenated in one array.
struct TextPool: Sendable {
    private(set) var bytes: [UInt8] = []
    /// The number of bytes of removed texts.
    private(set) var garbage = 0

    mutating func add(_ text: some Collection<UInt8>) -> TextRange {
        let start = self.bytes.count
        self.bytes.growByQuarter(for: text.count)
        self.bytes.append(contentsOf: text)
        return TextRange(start..<self.bytes.count)
    }

    mutating func remove(_ text: TextRange) { self.garbage += text.range.count }

    subscript(text: TextRange) -> ArraySlice<UInt8> { self.bytes[text.range] }

    func string(_ text: TextRange) -> String { String(decoding: self[text], as: UTF8.self) }
}

extension TextPool {
    /// Returns whether a text of at least eight bytes equals a segment.
    ///
    /// The method is not inlined, because the search loop needs the registers.
    @inline(never)
    func equals(_ text: TextRange, _ segment: ScannedSegment, of other: Span<UInt8>) -> Bool {
        guard segment.range.count == Int(text.end &- text.start) else { return false }
        return ByteWord.areEqual(
            self.bytes.span.extracting(text.range),
            other.extracting(segment.range.range)
        )
    }

    /// Returns whether the text at an offset equals the first `count` bytes of a URL.
    ///
    /// `count` must be at least eight.
    @inline(never)
    func equals(start: Int, _ other: Span<UInt8>, count: Int) -> Bool {
        ByteWord.areEqual(
            self.bytes.span.extracting(start..<start &+ count),
            other.extracting(first: count)
        )
    }

    /// Returns whether a text equals a segment that is decoded, and folded if needed, for the comparison.
    @inline(never)
    func equals(
        _ text: TextRange,
        decoding segment: ScannedSegment,
        of other: Span<UInt8>,
        folding: Bool
    ) -> Bool {
        var index = segment.range.start
        var offset = Int(text.start)
        while index < segment.range.end {
            let (byte, length) = PercentCoding.byte(other, index: index, end: segment.range.end)
            let wanted = folding ? ASCII.lowercased(byte) : byte
            guard offset < Int(text.end), self.bytes[offset] == wanted else { return false }
            index += length
            offset += 1
        }
        return offset == Int(text.end)
    }
}

extension Array {
    /// Reserves space in a long array for new elements and for a quarter of its current count.
    ///
    /// Otherwise the array would double its capacity, and a large table would be half empty.
    mutating func growByQuarter(for added: Int) {
        guard self.count >= 4096, self.count + added > self.capacity else { return }
        self.reserveCapacity(self.count + added + self.count / 4)
    }
}

/// A byte range of the pool.
struct TextRange: Sendable, Hashable {
    var start: UInt32 = 0
    var end: UInt32 = 0

    var range: Range<Int> { Int(self.start)..<Int(self.end) }
}

extension TextRange {
    init(_ range: Range<Int>) {
        self.init(
            start: UInt32(truncatingIfNeeded: range.lowerBound),
            end: UInt32(truncatingIfNeeded: range.upperBound)
        )
    }
}

/// The names of the files in which routes were registered; many routes share one file name.
struct FilePool: Sendable {
    private(set) var names: [String] = []
    private var numbers: [String: UInt32] = [:]
    private var last = (name: "", number: UInt32(0))

    mutating func number(of name: String) -> UInt32 {
        // A file usually registers several routes in succession.
        if name == self.last.name, !self.names.isEmpty { return self.last.number }
        let number = self.numbers[name, default: UInt32(self.names.count)]
        if Int(number) == self.names.count {
            self.names.append(name)
            self.numbers[name] = number
        }
        self.last = (name, number)
        return number
    }
}
