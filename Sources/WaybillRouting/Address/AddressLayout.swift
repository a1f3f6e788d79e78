/// Where the parts of an address are in its text, in bytes.
struct AddressLayout: Sendable, Hashable {
    /// The end of the scheme; 0 when there is none.
    var schemeEnd: UInt32 = 0
    /// Where the segments begin: behind the scheme, and behind a host or a verb that is no segment.
    var pathStart: UInt32 = 0
    var pathEnd: UInt32 = 0
    /// The end of the query; the same as `pathEnd` when there is none, else the query begins one byte behind it.
    var queryEnd: UInt32 = 0
    /// Whether a `%` that may begin an encoded byte stands anywhere.
    var hasEscapes = false
    var hasFragment = false

    var hasQuery: Bool { self.queryEnd != self.pathEnd }
}
