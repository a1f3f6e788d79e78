public import WaybillRouting

/// The state of a ``Performance`` and the permitted changes of this state.
///
/// A performance is one use of a service that is made on demand. The machine is a value that decides, and
/// ``Performance`` acts.
struct PerformMachine {
    /// A change from one state to another, for observers.
    struct Change: Equatable {
        let old: PerformState
        let new: PerformState
    }

    /// The reason why an action cannot begin.
    struct Refusal: Error {
        let code: RoutingError.Code
        let message: String
        /// Whether only the caller receives the error, and no handler.
        var isQuiet = false
    }

    /// The maximum number of performances that may be nested.
    static let nestingLimit = 200

    private(set) var state = PerformState.unrouted
    /// The state before the current action, which a failure restores.
    private var before = PerformState.unrouted

    // `depth` is the number of nested performances, including this one.
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
                message: "the destination already exists: remove it before you perform again",
                isQuiet: true
            )
        case .routing:
            throw Refusal(
                code: .overRoute,
                message: "the service is already being performed: wait for the performance"
            )
        case .removing:
            throw Refusal(
                code: .actionFailed,
                message: "the destination is being removed: wait for the removal"
            )
        }
    }

    mutating func remove() throws(Refusal) -> Change {
        switch self.state {
        case .routed: return self.begin(.removing)
        case .unrouted:
            throw Refusal(
                code: .actionFailed,
                message: "the service has not been performed, so there is no destination to remove"
            )
        case .routing:
            throw Refusal(
                code: .actionFailed,
                message: "the service is being performed: wait for the performance"
            )
        case .removing:
            throw Refusal(
                code: .overRoute,
                message: "another task is already removing the destination: wait for the removal"
            )
        case .removed:
            throw Refusal(code: .actionFailed, message: "the destination has already been removed")
        }
    }

    /// Ends the current action successfully.
    mutating func finish() -> Change { self.move(to: self.state == .routing ? .routed : .removed) }

    /// Ends the current action with a failure, and restores the previous state.
    mutating func fail() -> Change { self.move(to: self.before) }

    /// Changes the state to `removed` because the destination has been released.
    ///
    /// Returns nil if the state is not `routed`.
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

/// The state of a ``Performance``.
public enum PerformState: String, Sendable, Hashable {
    /// The performance has not been performed, or its first attempt failed.
    case unrouted
    /// The destination is being made and prepared.
    case routing
    /// The destination has been made.
    case routed
    /// The destination is being removed.
    case removing
    /// The destination has been removed or released.
    case removed
}

extension RoutingError.Code {
    /// The performance is already being performed or removed.
    public static let overRoute = Self("overRoute")

    /// The state of the performance does not permit the operation, for example a removal before a
    /// performance.
    public static let actionFailed = Self("actionFailed")
}
