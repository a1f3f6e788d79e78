import Measure

extension Figures {
    /// The counts of `Tests/count`: instructions and allocations, which do not depend on the load of the
    /// machine.
    static func counted(_ counted: [(name: String, value: Double)]) -> [Figure] {
        counted.map { name, value in
            let unit: Unit = name.hasPrefix("instructions.") ? .instructions : .allocations
            guard let bound = Self.bounds[name] else { return Figure(name, unit: unit) { value } }
            guard let goal = bound.goal else {
                return Figure(name, unit: unit, must: .value(bound.must)) { value }
            }
            return Figure(name, unit: unit, must: .value(bound.must), goal: .value(goal)) { value }
        }
    }

    /// The limits of the counts.
    ///
    /// Decision 14 gives the reasons, and the counts of its date.
    private static let bounds: [String: (must: Double, goal: Double?)] = [
        "instructions.same-loop": (1_750, nil),
        "instructions.same-loop-served": (1_750, nil),
        "instructions.same-loop-console": (1_750, nil),
        "instructions.second-loop": (1_800, nil),
        "instructions.typed-url": (2_800, nil),
        "instructions.same-loop-async": (8_500, nil),
        "instructions.same-loop-async-on": (11_000, nil),
        "instructions.service-call": (2_400, nil),
        "instructions.send": (2_300, nil),
        "instructions.with-deadline": (2_600, nil),
        "instructions.hop": (11_000, nil),
        "instructions.hop-64": (7_200, nil),
        "instructions.hop-64-async": (18_000, nil),
        "instructions.middleware": (2_800, nil),
        "instructions.match": (1_630, nil),
        "instructions.match-github": (1_140, nil),
        "allocations.same-loop": (0, 0),
        "allocations.same-loop-joined": (0, 0),
        "allocations.same-loop-async": (5, 2),
        "allocations.same-loop-async-on": (5, 2),
        "allocations.match": (0, 0),
    ]
}
