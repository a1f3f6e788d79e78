public import WaybillRouting

/// The state of a ``Performance`` and the permitted changes of this state.
///
/// A performance is one use of a service that is made on demand. This value decides which action may begin,
/// and ``Performance`` carries out the action.
struct PerformMachine {
    /// A change from one state to another, for observers.
    struct Change: Equatable {
        let old: PerformState
        let new: PerformState
    }

    /// The reason why an action of a performance cannot begin.
    struct Refusal: Error {
        let code: RoutingError.Code
        let message: String
        /// Whether only the caller receives the error, and the failure handlers are not called.
        var isQuiet = false
    }

    /// The maximum number of performances that may be nested.
    static let nestingLimit = 200

    private(set) var state = PerformState.unrouted
    /// The state before the current action, which is restored if the action fails.
    private var before = PerformState.unrouted

    // `depth` is the number of nested performances, including this performance.
    mutating func perform(depth: Int, mustBeRemovedFirst: Bool) throws(Refusal) -> Change {
        guard depth <= Self.nestingLimit else {
            throw Refusal(
                code: .infiniteRecursion,
                message:
                    "more than \(Self.nestingLimit) performances are nested; do two services make each other?",
                isQuiet: true
            )
        }
        switch self.state {
        case .unrouted, .removed: return self.begin(.routing)
        case .routed where !mustBeRemovedFirst: return self.begin(.routing)
        case .routed:
            throw Refusal(
                code: .actionFailed,
                message: "the destination already exists: remove it before you call `perform` again",
                isQuiet: true
            )
        case .routing:
            throw Refusal(
                code: .overRoute,
                message: "the destination is already being made: wait until `perform` has returned"
            )
        case .removing:
            throw Refusal(
                code: .actionFailed,
                message: "the destination is still being removed: wait until `remove` has returned"
            )
        }
    }

    mutating func remove() throws(Refusal) -> Change {
        switch self.state {
        case .routed: return self.begin(.removing)
        case .unrouted:
            throw Refusal(
                code: .actionFailed,
                message: "`perform` has not made a destination yet, so there is nothing to remove"
            )
        case .routing:
            throw Refusal(
                code: .actionFailed,
                message: "the destination is still being made: wait until `perform` has returned"
            )
        case .removing:
            throw Refusal(
                code: .overRoute,
                message: "another task is already removing the destination: wait until `remove` has returned"
            )
        case .removed:
            throw Refusal(code: .actionFailed, message: "the destination has already been removed")
        }
    }

    /// Ends the current action successfully.
    mutating func finish() -> Change { self.move(to: self.state == .routing ? .routed : .removed) }

    /// Ends the current action with a failure, and restores the previous state.
    mutating func fail() -> Change { self.move(to: self.before) }

    /// Changes the state from `routed` to `removed` because the destination was released, or returns nil.
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
    /// The performance has not made a destination, or its first attempt failed.
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
    /// The performance is already making its destination, or is already removing it.
    public static let overRoute = Self("overRoute")

    /// The current state of the performance does not permit the action.
    ///
    /// For example, a destination that has not been made cannot be removed.
    public static let actionFailed = Self("actionFailed")
}
