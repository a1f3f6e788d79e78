/// Collects the states of an automaton and which may follow which.
struct RegexBuilder {
    /// A part of the expression, by the states it may begin and end with.
    struct Part {
        var first: Set<Int> = []
        var last: Set<Int> = []
        var isOptional = true
    }

    private(set) var sets: [CharacterSet] = []
    private(set) var follow: [Set<Int>] = []

    mutating func build(_ node: RegexNode) throws(RegexParser.Failure) -> Part {
        switch node {
        case .empty, .start, .end: return Part()
        case .set(let set):
            guard self.sets.count < RegexAutomaton.limit else {
                throw .init("it has more than \(RegexAutomaton.limit) states")
            }
            self.sets.append(set)
            self.follow.append([])
            let state = self.sets.count - 1
            return Part(first: [state], last: [state], isOptional: false)
        case .sequence(let nodes):
            var whole = Part()
            for node in nodes { whole = self.join(whole, try self.build(node)) }
            return whole
        case .choice(let nodes):
            var whole = Part(isOptional: false)
            for node in nodes {
                let part = try self.build(node)
                whole.first.formUnion(part.first)
                whole.last.formUnion(part.last)
                whole.isOptional = whole.isOptional || part.isOptional
            }
            return whole
        case .repetition(let node, let from, let to):
            return try self.repeated(node, from, to)
        }
    }

    private mutating func repeated(
        _ node: RegexNode,
        _ from: Int,
        _ to: Int?
    ) throws(RegexParser.Failure) -> Part {
        var whole = Part()
        let copies = to ?? max(from, 1)
        guard copies <= RegexAutomaton.limit else {
            throw .init("it has more than \(RegexAutomaton.limit) states")
        }
        for copy in 0..<copies {
            var part = try self.build(node)
            if copy >= from { part.isOptional = true }
            if to == nil, copy == copies - 1 {
                for state in part.last { self.follow[state].formUnion(part.first) }
            }
            whole = self.join(whole, part)
        }
        return whole
    }

    private mutating func join(_ left: Part, _ right: Part) -> Part {
        for state in left.last { self.follow[state].formUnion(right.first) }
        return Part(
            first: left.isOptional ? left.first.union(right.first) : left.first,
            last: right.isOptional ? right.last.union(left.last) : right.last,
            isOptional: left.isOptional && right.isOptional
        )
    }
}
