public import WaybillRouting

/// What a caller wants of a ``Performance``: what it does to the destination, and what it is told.
///
/// These closures are called every time that it is performed; what is passed to
/// ``Performance/perform(onSuccess:onFailure:)`` only that once. They run wherever the performance's caller
/// does.
public struct PerformConfiguration<Destination: Sendable>: Sendable {
    /// Prepares the destination before the router does: passes on what this caller wants of it.
    public var prepare: (@Sendable (Destination) async throws -> Void)?

    /// The destination is there.
    public var succeeded: (@Sendable (Destination) -> Void)?

    /// It could not be made, prepared or removed.
    public var failed: (@Sendable (RoutingError) -> Void)?

    /// It is over, after ``succeeded`` or ``failed``, and whether well.
    public var completed: (@Sendable (Bool) -> Void)?

    /// A step from one state to the next, as it is made.
    public var stateChanged: (@Sendable (_ old: PerformState, _ new: PerformState) -> Void)?

    init() {}
}
