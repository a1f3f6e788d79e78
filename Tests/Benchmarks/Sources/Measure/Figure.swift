/// One line of the table: a subject, what it is compared with, and what it has to hold.
public struct Figure: Sendable {
    enum Kind: Sendable {
        case timed(Subject, peer: Subject?)
        /// Something else, which says what it came to.
        case counted(rounds: Int, @Sendable () async throws -> Double)
    }

    /// What the table and the filters call it.
    public let name: String
    let unit: Unit
    let kind: Kind
    let must: [Bound]
    let goal: [Bound]
    /// Whether all threads stay on one core.
    private(set) var isOnOneCore = false

    /// Makes a figure of the time that an iteration takes.
    ///
    /// - Parameters:
    ///   - name: what the table and the filters call it.
    ///   - must: what it has to hold.
    ///   - goal: what it should come to.
    ///   - isOnOneCore: for two threads that take turns, so that only one of them runs at any time. A
    ///     scheduler puts them on one core or on two as it likes, and of the same program that makes 16 or 65
    ///     microseconds, since a core that sleeps has to be woken.
    ///   - subject: what is measured.
    ///   - peer: what it is compared with.
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

    /// Makes a figure of something else than the time of an iteration.
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
