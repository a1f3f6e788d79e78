/// What a registration in a table is known by.
///
/// An identifier is never used twice in one table: after a route was removed, its identifier finds nothing.
public struct RouteID: Sendable, Hashable {
    @usableFromInline let index: UInt32
    @usableFromInline let generation: UInt32

    @inlinable
    init(index: UInt32, generation: UInt32) {
        self.index = index
        self.generation = generation
    }
}
