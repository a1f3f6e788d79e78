extension Result {
    /// The result as a JSON object on one line.
    ///
    /// `ns` is null if the result is not a time. `value` and `unit` are then the result.
    public var json: String {
        let isTime = self.figure.unit == .nanoseconds
        let unit = self.figure.unit
        let fields: [(String, JSONValue)] = [
            ("name", .text(self.figure.name)),
            ("ns", isTime ? .number(self.value.median) : .null),
            ("peer", self.peer.map { .text($0.name) } ?? .null),
            ("peer_ns", isTime ? self.peer.map { .number($0.value.median) } ?? .null : .null),
            ("ratio", self.ratio.map { .number($0) } ?? .null),
            ("value", .number(self.value.median)),
            ("unit", .text(unit.rawValue)),
            ("min", .number(self.value.low)),
            ("max", .number(self.value.high)),
            ("peer_min", self.peer.map { .number($0.value.low) } ?? .null),
            ("peer_max", self.peer.map { .number($0.value.high) } ?? .null),
            ("must", .list(self.figure.must.map { $0.text(unit) })),
            ("goal", .list(self.figure.goal.map { $0.text(unit) })),
            ("must_held", self.holds.map { .truth($0) } ?? .null),
            ("goal_reached", self.reachesGoal.map { .truth($0) } ?? .null),
        ]
        return "{" + fields.map { "\"\($0)\": \($1.text)" }.joined(separator: ", ") + "}"
    }
}

private enum JSONValue {
    case null
    case truth(Bool)
    case number(Double)
    case text(String)
    case list([String])

    var text: String {
        switch self {
        case .null: "null"
        case .truth(let value): "\(value)"
        case .number(let value): value.isFinite ? "\((value * 1000).rounded() / 1000)" : "null"
        // Names of figures contain no characters that JSON must escape.
        case .text(let value): "\"\(value)\""
        case .list(let values): "[" + values.map { "\"\($0)\"" }.joined(separator: ", ") + "]"
        }
    }
}
