/// One line of the table: a subject, its peer, and its limits.
public struct Figure: Sendable {
    enum Kind: Sendable {
        case timed(Subject, peer: Subject?)
        /// The count of a closure.
        case counted(rounds: Int, @Sendable () async throws -> Double)
    }

    /// The name in the table and in filters.
    public let name: String
    let unit: Unit
    let kind: Kind
    let must: [Bound]
    let goal: [Bound]
    /// Whether all threads stay on one core.
    private(set) var isOnOneCore = false

    /// Creates a figure of the time of an iteration.
    ///
    /// - Parameters:
    ///   - name: The name in the table and in filters.
    ///   - must: The limits that the figure must hold.
    ///   - goal: The goal of the figure.
    ///   - isOnOneCore: Whether to use one core, for two threads of which only one runs at any time. A
    ///     scheduler puts them on one core or on two, which takes 16 or 65 microseconds for one and the same
    ///     program, because a sleeping core must be woken.
    ///   - subject: The measured subject.
    ///   - peer: The peer of the subject.
    public init(
        _ name: String,
        must: Bound...,
        goal: Bound...,
        isOnOneCore: Bool = false,
        subject: Subject,
        peer: Subject? = nil
    ) {
        self.init(name: name, unit: .nanoseconds, kind: .timed(subject, peer: peer), must: must, goal: goal)
        self.isOnOneCore = isOnOneCore
    }

    /// Creates a figure that is not the time of an iteration.
    public init(
        _ name: String,
        unit: Unit,
        must: Bound...,
        goal: Bound...,
        rounds: Int = 1,
        count: @escaping @Sendable () async throws -> Double
    ) {
        self.init(name: name, unit: unit, kind: .counted(rounds: rounds, count), must: must, goal: goal)
    }

    private init(name: String, unit: Unit, kind: Kind, must: [Bound], goal: [Bound]) {
        self.name = name
        self.unit = unit
        self.kind = kind
        self.must = must
        self.goal = goal
    }
}
