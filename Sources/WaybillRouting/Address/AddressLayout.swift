/// Where the parts of an address are in its text, in bytes, packed so that a match stays small.
@usableFromInline
struct AddressLayout: Sendable, Hashable {
    private var offsets: UInt64 = 0
    private var flags: UInt8 = 0

    @inline(__always)
    init() {}

    @inline(__always)
    private func offset(_ place: UInt64) -> Int { Int(truncatingIfNeeded: self.offsets &>> place & 0xffff) }

    @inline(__always)
    private mutating func set(_ place: UInt64, _ value: Int) {
        self.offsets = self.offsets & ~(0xffff &<< place) | UInt64(truncatingIfNeeded: value) &<< place
    }

    /// The end of the scheme; 0 when there is none.
    @inline(__always)
    var schemeEnd: Int {
        get { self.offset(0) }
        set { self.set(0, newValue) }
    }

    /// Where the segments begin: behind the scheme, and behind a host or a verb that is no segment.
    @inline(__always)
    var pathStart: Int {
        get { self.offset(16) }
        set { self.set(16, newValue) }
    }

    @inline(__always)
    var pathEnd: Int {
        get { self.offset(32) }
        set { self.set(32, newValue) }
    }

    /// The end of the query; the same as `pathEnd` when there is none, else the query begins one byte behind it.
    @inline(__always)
    var queryEnd: Int {
        get { self.offset(48) }
        set { self.set(48, newValue) }
    }

    /// Whether a `%` that may begin an encoded byte stands anywhere.
    @inline(__always)
    var hasEscapes: Bool {
        get { self.flags & 1 != 0 }
        set { self.flags = self.flags & ~1 | (newValue ? 1 : 0) }
    }

    @inline(__always)
    var hasFragment: Bool {
        get { self.flags & 2 != 0 }
        set { self.flags = self.flags & ~2 | (newValue ? 2 : 0) }
    }

    /// Whether the scheme is there and known to be the default one; false says nothing.
    @inline(__always)
    var hasDefaultScheme: Bool {
        get { self.flags & 4 != 0 }
        set { self.flags = self.flags & ~4 | (newValue ? 4 : 0) }
    }

    var hasQuery: Bool { self.queryEnd != self.pathEnd }
}
