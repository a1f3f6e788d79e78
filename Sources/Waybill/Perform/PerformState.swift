/// How far a ``Performance`` is.
public enum PerformState: String, Sendable, Hashable {
    /// It has not been performed, or failed the first time.
    case unrouted
    /// The destination is being made and prepared.
    case routing
    /// The destination is there.
    case routed
    /// The destination is being taken down.
    case removing
    /// The destination has been taken down, or nobody holds it any more.
    case removed
}
