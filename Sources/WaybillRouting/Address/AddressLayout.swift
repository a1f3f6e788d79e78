/// Where the parts of an address are in its text, in bytes, packed so that a match stays small.
@usableFromInline
struct AddressLayout: Sendable, Hashable {
    private var offsets: UInt64 = 0
    private var flags: UInt8 = 0

    @inline(__always)
    init() {}

    /// Puts the parts together in registers: setting them one by one writes less than a word, and who reads the word
    /// next has to wait until that is in the cache.
    @inline(__always)
    init(schemeEnd: Int, pathStart: Int, pathEnd: Int, queryEnd: Int, flags: Flags) {
        self.offsets =
            UInt64(truncatingIfNeeded: schemeEnd) | UInt64(truncatingIfNeeded: pathStart) &<< 16
            | UInt64(truncatingIfNeeded: pathEnd) &<< 32 | UInt64(truncatingIfNeeded: queryEnd) &<< 48
        self.flags = flags.rawValue
    }

    /// What is known about the text beside its parts.
    struct Flags: OptionSet {
        let rawValue: UInt8

        /// A `%` that may begin an encoded byte stands somewhere.
        static let escapes = Self(rawValue: 1)
        static let fragment = Self(rawValue: 2)
        /// The scheme is there and known to be the default one.
        static let defaultScheme = Self(rawValue: 4)
    }

    @inline(__always)
    private func offset(_ place: UInt64) -> Int { Int(truncatingIfNeeded: self.offsets &>> place & 0xffff) }

    @inline(__always)
    private func has(_ flag: Flags) -> Bool { self.flags & flag.rawValue != 0 }

    /// The end of the scheme; 0 when there is none.
    @inline(__always)
    var schemeEnd: Int { self.offset(0) }

    /// Where the segments begin: behind the scheme, and behind a host or a verb that is no segment.
    @inline(__always)
    var pathStart: Int {
        get { self.offset(16) }
        set {
            self.offsets = self.offsets & ~(0xffff &<< 16) | UInt64(truncatingIfNeeded: newValue) &<< 16
        }
    }

    @inline(__always)
    var pathEnd: Int { self.offset(32) }

    /// The end of the query; the same as `pathEnd` when there is none, else the query begins one byte behind it.
    @inline(__always)
    var queryEnd: Int { self.offset(48) }

    /// Whether a `%` that may begin an encoded byte stands anywhere.
    @inline(__always)
    var hasEscapes: Bool { self.has(.escapes) }

    @inline(__always)
    var hasFragment: Bool { self.has(.fragment) }

    /// Whether the scheme is there and known to be the default one; false says nothing.
    @inline(__always)
    var hasDefaultScheme: Bool { self.has(.defaultScheme) }

    @inline(__always)
    var hasQuery: Bool { self.queryEnd != self.pathEnd }
}

/// A part of a URL's text, in bytes; two of them fill one word of a match.
struct URLRange: Sendable, Hashable {
    /// The longest URL that ranges can describe.
    static let longest = Int(UInt16.max)

    var bits: UInt32 = 0

    @inline(__always)
    init() {}

    @inline(__always)
    init(bits: UInt32) { self.bits = bits }

    @inline(__always)
    init(_ start: Int, _ end: Int) {
        self.bits = UInt32(truncatingIfNeeded: start) | UInt32(truncatingIfNeeded: end) &<< 16
    }

    init(_ range: Range<Int>) { self.init(range.lowerBound, range.upperBound) }

    @inline(__always)
    var start: Int { Int(self.bits & 0xffff) }

    @inline(__always)
    var end: Int { Int(self.bits &>> 16) }

    @inline(__always)
    var count: Int { self.end &- self.start }

    var range: Range<Int> { self.start..<self.end }
}
