/// The byte offsets of an address's parts, packed into nine bytes so that a match stays small.
@usableFromInline
struct AddressLayout: Sendable, Hashable {
    private var offsets: UInt64 = 0
    private var flags: UInt8 = 0

    init() {}

    /// Creates a layout and builds the packed word in registers.
    ///
    /// Four separate stores of the offsets would be narrower than the word. A read of the whole word directly
    /// after these stores would stall until the stores reach the cache.
    init(schemeEnd: Int, pathStart: Int, pathEnd: Int, queryEnd: Int, flags: Flags) {
        self.offsets =
            UInt64(truncatingIfNeeded: schemeEnd) | UInt64(truncatingIfNeeded: pathStart) &<< 16
            | UInt64(truncatingIfNeeded: pathEnd) &<< 32 | UInt64(truncatingIfNeeded: queryEnd) &<< 48
        self.flags = flags.rawValue
    }

    /// Properties of the text that the scan finds along with the offsets.
    struct Flags: OptionSet {
        let rawValue: UInt8

        /// The text contains a `%`, which may begin an encoded byte.
        static let escapes = Self(rawValue: 1)
        static let fragment = Self(rawValue: 2)
        /// The URL contains a scheme, and this scheme is the default scheme.
        static let defaultScheme = Self(rawValue: 4)
    }

    private func offset(_ shift: UInt64) -> Int { Int(truncatingIfNeeded: self.offsets &>> shift & 0xffff) }

    private func has(_ flag: Flags) -> Bool { self.flags & flag.rawValue != 0 }

    /// The end of the scheme; 0 when the URL has no scheme.
    var schemeEnd: Int { self.offset(0) }

    /// The start of the segments: after the scheme, and after a host or verb that is not a segment.
    var pathStart: Int {
        get { self.offset(16) }
        set {
            self.offsets = self.offsets & ~(0xffff &<< 16) | UInt64(truncatingIfNeeded: newValue) &<< 16
        }
    }

    var pathEnd: Int { self.offset(32) }

    /// The end of the query, which begins at `pathEnd + 1`; equal to `pathEnd` when the URL has no query.
    var queryEnd: Int { self.offset(48) }

    /// Whether the text contains a `%`, which may begin an encoded byte.
    var hasEscapes: Bool { self.has(.escapes) }

    var hasFragment: Bool { self.has(.fragment) }

    /// Whether the URL is known to contain the default scheme.
    ///
    /// If the value is false, the URL may still contain the default scheme in a form that the fast comparison
    /// does not recognise.
    var hasDefaultScheme: Bool { self.has(.defaultScheme) }

    var hasQuery: Bool { self.queryEnd != self.pathEnd }
}

/// A byte range of a URL's text in 32 bits, so that one word of a match contains two ranges.
struct URLRange: Sendable, Hashable {
    /// The longest URL that a range can describe, in bytes.
    static let longest = Int(UInt16.max)

    var bits: UInt32 = 0

    init() {}

    init(bits: UInt32) { self.bits = bits }

    init(_ start: Int, _ end: Int) {
        self.bits = UInt32(truncatingIfNeeded: start) | UInt32(truncatingIfNeeded: end) &<< 16
    }

    init(_ range: Range<Int>) { self.init(range.lowerBound, range.upperBound) }

    var start: Int { Int(self.bits & 0xffff) }

    var end: Int { Int(self.bits &>> 16) }

    var count: Int { self.end &- self.start }

    var range: Range<Int> { self.start..<self.end }
}
