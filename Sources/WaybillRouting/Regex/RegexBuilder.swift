/// The work that the parser may do for the regular expressions of one pattern.
///
/// Counted repetitions are expanded, and nested repetitions multiply. A short text can therefore require any
/// amount of work, even if the result is small or empty. The budget limits this work.
struct RegexBudget {
    /// The maximum number of states of one expression.
    let states: Int
    /// The steps that are left for all expressions of the pattern.
    fileprivate var steps: Int

    /// The budget of a pattern in the program's code.
    static var code: Self { Self(states: 512, steps: 1 << 20) }

    /// The budget of a pattern that a peer sends.
    ///
    /// The steps take less than a millisecond.
    static var peer: Self { Self(states: 64, steps: 1 << 13) }

    /// Subtracts steps from the budget, or throws when too few steps are left.
    mutating func spend(_ count: Int) throws(RegexParser.Failure) {
        guard count <= self.steps else {
            throw RegexParser.Failure("its nested repetitions would take too much work")
        }
        self.steps -= count
    }
}

/// Builds the states of an automaton and their successors.
struct RegexBuilder {
    /// A part of the expression, with the states at which it can begin and end.
    struct Part {
        var first: Set<Int> = []
        var last: Set<Int> = []
        var isOptional = true
    }

    private(set) var sets: [CharacterSet] = []
    private(set) var follow: [Set<Int>] = []
    private(set) var budget: RegexBudget

    init(_ budget: RegexBudget) { self.budget = budget }

    mutating func build(_ node: RegexNode) throws(RegexParser.Failure) -> Part {
        try self.budget.spend(1)
        switch node {
        case .empty, .start, .end: return Part()
        case .set(let set):
            guard self.sets.count < self.budget.states else { throw self.tooManyStates }
            self.sets.append(set)
            self.follow.append([])
            let state = self.sets.count - 1
            return Part(first: [state], last: [state], isOptional: false)
        case .sequence(let nodes):
            var whole = Part()
            for node in nodes { whole = try self.join(whole, try self.build(node)) }
            return whole
        case .choice(let nodes):
            var whole = Part(isOptional: false)
            for node in nodes {
                let part = try self.build(node)
                try self.budget.spend(part.first.count + part.last.count)
                whole.first.formUnion(part.first)
                whole.last.formUnion(part.last)
                whole.isOptional = whole.isOptional || part.isOptional
            }
            return whole
        case .repetition(let node, let from, let to):
            return try self.repeated(node, from: from, to: to)
        }
    }

    private var tooManyStates: RegexParser.Failure {
        RegexParser.Failure("it has more than \(self.budget.states) states")
    }

    private mutating func repeated(
        _ node: RegexNode,
        from: Int,
        to: Int?
    ) throws(RegexParser.Failure) -> Part {
        var whole = Part()
        let copies = to ?? max(from, 1)
        guard copies <= self.budget.states else { throw self.tooManyStates }
        for copy in 0..<copies {
            var part = try self.build(node)
            if copy >= from { part.isOptional = true }
            if to == nil, copy == copies - 1 { try self.link(part.last, to: part.first) }
            whole = try self.join(whole, part)
        }
        return whole
    }

    private mutating func join(_ left: Part, _ right: Part) throws(RegexParser.Failure) -> Part {
        try self.link(left.last, to: right.first)
        try self.budget.spend(left.first.count + left.last.count)
        return Part(
            first: left.isOptional ? left.first.union(right.first) : left.first,
            last: right.isOptional ? right.last.union(left.last) : right.last,
            isOptional: left.isOptional && right.isOptional
        )
    }

    private mutating func link(_ states: Set<Int>, to successors: Set<Int>) throws(RegexParser.Failure) {
        try self.budget.spend(states.count * successors.count)
        for state in states { self.follow[state].formUnion(successors) }
    }
}
