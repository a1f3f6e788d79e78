/// The result of a figure.
public struct Result: Sendable {
    let figure: Figure
    let value: Samples
    let peer: (name: String, value: Samples)?

    /// The time of the figure as a multiple of the peer's time.
    var ratio: Double? { self.peer.map { self.value.median / $0.value.median } }

    /// Whether the figure is within all its limits, or nil if it has none.
    var holds: Bool? {
        self.figure.must.isEmpty ? nil : self.figure.must.allSatisfy { $0.holds(for: self) }
    }

    /// Whether the figure reaches its goal, or nil if it has none.
    var reachesGoal: Bool? {
        self.figure.goal.isEmpty ? nil : self.figure.goal.allSatisfy { $0.holds(for: self) }
    }
}

extension Result {
    /// Whether the figure exceeds a limit.
    public var isMissed: Bool { self.holds == false }

    /// The name of the figure, its result and its limits.
    public var verdict: String {
        let must = self.figure.must.map { $0.text(self.figure.unit) }.joined(separator: ", ")
        let ratio = self.ratio.map { " (\(Format.number($0, digits: 2))x)" } ?? ""
        let value = self.figure.unit.text(self.value.median)
        return "\(self.figure.name): \(value) \(self.figure.unit.rawValue)\(ratio), must be \(must)"
    }
}
