/// Texts that live as long as the table, one behind the other.
struct TextPool: Sendable {
    private(set) var bytes: [UInt8] = []
    /// How many bytes belong to texts that are gone.
    private(set) var garbage = 0

    mutating func add(_ text: some Collection<UInt8>) -> TextRange {
        let start = self.bytes.count
        self.bytes.append(contentsOf: text)
        return TextRange(start..<self.bytes.count)
    }

    mutating func remove(_ text: TextRange) { self.garbage += text.range.count }

    subscript(text: TextRange) -> ArraySlice<UInt8> { self.bytes[text.range] }

    func string(_ text: TextRange) -> String { String(decoding: self[text], as: UTF8.self) }
}

extension TextPool {
    /// Whether a text of at least eight bytes is the same as a segment.
    ///
    /// Inlined, it would take the registers that the walk needs.
    @inline(never)
    func equals(_ text: TextRange, _ segment: ScannedSegment, of other: Span<UInt8>) -> Bool {
        guard segment.range.count == Int(text.end &- text.start) else { return false }
        var left = self.bytes.span.extracting(text.range)
        var right = other.extracting(segment.range.range)
        // The last eight bytes overlap with those before.
        guard ByteWord.last(left) == ByteWord.last(right) else { return false }
        while left.count > 8 {
            if ByteWord.first(left) != ByteWord.first(right) { return false }
            left = left.extracting(droppingFirst: 8)
            right = right.extracting(droppingFirst: 8)
        }
        return true
    }

    /// Whether a text is the same as a segment that has to be decoded or folded for it.
    @inline(never)
    func equals(
        _ text: TextRange,
        decoding segment: ScannedSegment,
        of other: Span<UInt8>,
        folding: Bool
    ) -> Bool {
        var index = segment.range.start
        var place = Int(text.start)
        while index < segment.range.end {
            let (byte, length) = PercentCoding.byte(other, index, segment.range.end)
            let wanted = folding ? ASCII.lowercased(byte) : byte
            guard place < Int(text.end), self.bytes[place] == wanted else { return false }
            index += length
            place += 1
        }
        return place == Int(text.end)
    }
}

/// A part of an address's text, in bytes.
struct TextRange: Sendable, Hashable {
    var start: UInt32 = 0
    var end: UInt32 = 0

    var range: Range<Int> { Int(self.start)..<Int(self.end) }
}

extension TextRange {
    @inline(__always)
    init(_ range: Range<Int>) {
        self.init(
            start: UInt32(truncatingIfNeeded: range.lowerBound),
            end: UInt32(truncatingIfNeeded: range.upperBound)
        )
    }
}

/// The files that routes were registered in; there are far fewer of them than routes.
struct FilePool: Sendable {
    private(set) var names: [String] = []
    private var numbers: [String: UInt32] = [:]

    mutating func number(of name: String) -> UInt32 {
        if let number = self.numbers[name] { return number }
        self.names.append(name)
        let number = UInt32(self.names.count - 1)
        self.numbers[name] = number
        return number
    }
}
