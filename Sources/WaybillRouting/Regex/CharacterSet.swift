/// The characters that one place of a regular expression takes.
struct CharacterSet: Sendable, Hashable {
    /// What is in it, or, when it is negated, what is not.
    private(set) var ranges: [ClosedRange<UInt32>]
    var isNegated = false
    /// The answer for ASCII, ready made.
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    init(_ ranges: [ClosedRange<UInt32>], isNegated: Bool = false) {
        self.ranges = ranges
        self.isNegated = isNegated
        for value in 0..<UInt32(128) where self.search(value) {
            if value < 64 { self.low |= 1 << UInt64(value) } else { self.high |= 1 << UInt64(value - 64) }
        }
    }

    init(_ scalar: Unicode.Scalar) { self.init([scalar.value...scalar.value]) }

    @inline(__always)
    func contains(_ value: UInt32) -> Bool {
        if value < 64 { return self.low >> UInt64(value) & 1 != 0 }
        if value < 128 { return self.high >> UInt64(value - 64) & 1 != 0 }
        return self.search(value)
    }

    private func search(_ value: UInt32) -> Bool {
        self.ranges.contains { $0.contains(value) } != self.isNegated
    }

    static let any = Self([], isNegated: true)
    static let digit = Self([48...57])
    static let word = Self([48...57, 65...90, 95...95, 97...122])
    static let space = Self([9...13, 32...32, 0xa0...0xa0, 0x2028...0x2029])

    /// What `\d`, `\w`, `\s` and their opposites mean.
    static func escape(_ letter: Unicode.Scalar) -> Self? {
        switch letter {
        case "d": .digit
        case "w": .word
        case "s": .space
        case "D": Self(Self.digit.ranges, isNegated: true)
        case "W": Self(Self.word.ranges, isNegated: true)
        case "S": Self(Self.space.ranges, isNegated: true)
        default: nil
        }
    }
}
