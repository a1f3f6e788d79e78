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

    /// A figure that must not grow may be 2 % above its present value.
    private static let bounds: [String: (must: Double, goal: Double?)] = [
        "instructions.same-loop": (1_500, 1_000),
        "instructions.same-loop-served": (1_500, 1_000),
        "instructions.same-loop-console": (1_500, 1_000),
        "instructions.same-loop-async": (9_000, 5_000),
        "instructions.same-loop-async-on": (9_140, nil),
        "instructions.match": (1_630, 1_000),
        "instructions.match-github": (1_140, nil),
        "instructions.send": (1_880, nil),
        "instructions.service-call": (1_930, 1_450),
        "instructions.typed-url": (1_470, 1_160),
        "instructions.second-loop": (1_470, 1_450),
        "instructions.hop": (9_280, nil),
        "allocations.same-loop": (0, 0),
        "allocations.same-loop-joined": (0, 0),
        "allocations.same-loop-async": (5, 2),
        "allocations.same-loop-async-on": (5, 2),
        "allocations.match": (0, 0),
    ]
}
