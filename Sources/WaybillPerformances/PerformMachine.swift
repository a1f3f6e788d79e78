public import WaybillRouting

/// The state machine of a performance.
///
/// It decides on steps, and ``Performance`` performs them.
struct PerformMachine {
    /// A step from one state to the next, for observers.
    struct Change: Equatable {
        let old: PerformState
        let new: PerformState
    }

    /// Why something is not begun.
    struct Refusal: Error {
        let code: RoutingError.Code
        let message: String
        /// Whether the caller alone gets its error.
        var isQuiet = false
    }

    /// How many performances may be begun inside of one another.
    static let nestingLimit = 200

    private(set) var state = PerformState.unrouted
    /// The state before the step in progress, to which a failure returns.
    private var before = PerformState.unrouted

    // The depth is how many performances there are inside of one another, this one included.
    mutating func perform(depth: Int, mustBeRemovedFirst: Bool) throws(Refusal) -> Change {
        guard depth <= Self.nestingLimit else {
            throw Refusal(
                code: .infiniteRecursion,
                message:
                    "\(Self.nestingLimit) performances are nested, which is the limit; do two perform each other?",
                isQuiet: true
            )
        }
        switch self.state {
        case .unrouted, .removed: return self.begin(.routing)
        case .routed where !mustBeRemovedFirst: return self.begin(.routing)
        case .routed:
            throw Refusal(
                code: .actionFailed,
                message: "its destination already exists: remove it before you perform again",
                isQuiet: true
            )
        case .routing:
            throw Refusal(code: .overRoute, message: "it is already being performed")
        case .removing:
            throw Refusal(
                code: .actionFailed,
                message: "its destination is being removed: wait for the removal"
            )
        }
    }

    mutating func remove() throws(Refusal) -> Change {
        switch self.state {
        case .routed: return self.begin(.removing)
        case .unrouted:
            throw Refusal(
                code: .actionFailed,
                message: "it has not been performed, so there is nothing to remove"
            )
        case .routing:
            throw Refusal(code: .actionFailed, message: "it is being performed: wait for the performance")
        case .removing:
            throw Refusal(code: .overRoute, message: "its destination is already being removed")
        case .removed:
            throw Refusal(code: .actionFailed, message: "its destination has already been removed")
        }
    }

    /// Completes the step in progress.
    mutating func finish() -> Change { self.move(to: self.state == .routing ? .routed : .removed) }

    /// Fails the step in progress.
    mutating func fail() -> Change { self.move(to: self.before) }

    /// The destination has been released.
    mutating func lose() -> Change? { self.state == .routed ? self.move(to: .removed) : nil }

    private mutating func begin(_ next: PerformState) -> Change {
        self.before = self.state
        return self.move(to: next)
    }

    private mutating func move(to next: PerformState) -> Change {
        defer { self.state = next }
        return Change(old: self.state, new: next)
    }
}

/// How far a ``Performance`` is.
public enum PerformState: String, Sendable, Hashable {
    /// It has not been performed, or failed the first time.
    case unrouted
    /// The destination is being made and prepared.
    case routing
    /// The destination has been made.
    case routed
    /// The destination is being taken down.
    case removing
    /// The destination has been taken down, or released.
    case removed
}

extension RoutingError.Code {
    /// A performance is being performed or removed already.
    public static let overRoute = Self("overRoute")

    /// The state of a performance does not permit the operation: removing what was not performed, for
    /// example.
    public static let actionFailed = Self("actionFailed")
}
