/// What a registration in a table is known by.
///
/// An identifier is never used twice in one table: after a route was removed, its identifier finds nothing.
public struct RouteID: Sendable, Hashable {
    @usableFromInline let bits: UInt64

    @inlinable
    init(bits: UInt64) { self.bits = bits }

    init(index: UInt32, generation: UInt32) { self.bits = UInt64(generation) << 32 | UInt64(index) }

    /// Where the route lies in the table.
    @inlinable var index: Int { Int(truncatingIfNeeded: self.bits & 0xffff_ffff) }

    /// Which registration of the table it was.
    var generation: UInt32 { UInt32(truncatingIfNeeded: self.bits >> 32) }
}
