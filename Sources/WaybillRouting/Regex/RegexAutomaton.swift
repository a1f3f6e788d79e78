/// A regular expression as a Glushkov automaton, which has one state for each character of the expression.
///
/// All active states are bits of a few words and advance together, without backtracking. The time for a match
/// is therefore at most proportional to the length of the text times the length of the expression. The
/// automaton can read a text forwards and backwards.
struct RegexAutomaton: Sendable, Hashable {
    private(set) var sets: [CharacterSet]
    /// The number of words in a set of states.
    let width: Int
    let first: [UInt64]
    let last: [UInt64]
    /// The sets of successors of all states, concatenated.
    let follow: [UInt64]
    /// The sets of predecessors of all states, concatenated.
    let precede: [UInt64]

    /// Creates the automaton of an expression, and subtracts the work from the budget.
    ///
    /// Throws if the expression exceeds the budget.
    init(_ node: RegexNode, budget: inout RegexBudget) throws(RegexParser.Failure) {
        var builder = RegexBuilder(budget)
        defer { budget = builder.budget }
        let part = try builder.build(node)
        self.sets = builder.sets
        self.width = max(1, (self.sets.count + 63) / 64)
        self.first = Self.bits(part.first, self.width)
        self.last = Self.bits(part.last, self.width)
        var follow = [UInt64](repeating: 0, count: self.width * self.sets.count)
        var precede = follow
        for (from, successors) in builder.follow.enumerated() {
            for to in successors {
                follow[from * self.width + to / 64] |= 1 << UInt64(to % 64)
                precede[to * self.width + from / 64] |= 1 << UInt64(from % 64)
            }
        }
        self.follow = follow
        self.precede = precede
    }

    private static func bits(_ states: Set<Int>, _ width: Int) -> [UInt64] {
        var words = [UInt64](repeating: 0, count: width)
        for state in states { words[state / 64] |= 1 << UInt64(state % 64) }
        return words
    }
}

extension RegexAutomaton {
    /// Returns the automaton for texts whose letters were folded to lower case.
    ///
    /// It also accepts a lower-case letter of ASCII where this automaton accepts only the upper-case letter.
    func folded() -> Self {
        var folded = self
        folded.sets = self.sets.map { $0.folded() }
        return folded
    }

    /// Returns whether the whole range matches.
    func matches(_ text: Span<UInt8>, _ range: Range<Int>) -> Bool {
        self.width == 1
            ? self.matchesNarrowly(text, range)
            : self.shortestEnd(text, range) { $0 == range.upperBound } != nil
    }

    /// Returns whether the whole range matches.
    ///
    /// The method is for automata of at most 64 states, and allocates no memory.
    private func matchesNarrowly(_ text: Span<UInt8>, _ range: Range<Int>) -> Bool {
        var index = range.lowerBound
        var next = self.first[0]
        var states: UInt64 = 0
        while index < range.upperBound {
            let (scalar, length) = UTF8Decoder.scalar(text, index: index, end: range.upperBound)
            states = 0
            var candidates = next
            next = 0
            while candidates != 0 {
                let state = candidates.trailingZeroBitCount
                candidates &= candidates &- 1
                guard self.sets[state].contains(scalar) else { continue }
                states |= 1 &<< UInt64(state)
                next |= self.follow[state]
            }
            if states == 0 { return false }
            index += length
        }
        return states & self.last[0] != 0
    }

    /// Returns the end of the shortest match that begins at the start of the range and ends where `allows` is
    /// true.
    func shortestEnd(_ text: Span<UInt8>, _ range: Range<Int>, where allows: (Int) -> Bool) -> Int? {
        var index = range.lowerBound
        var next = self.first
        var states = [UInt64](repeating: 0, count: self.width)
        while index < range.upperBound {
            let (scalar, length) = UTF8Decoder.scalar(text, index: index, end: range.upperBound)
            self.step(scalar, states: &states, next: &next, edges: self.follow)
            index += length
            if self.intersects(states, self.last), allows(index) { return index }
            if states.allSatisfy({ $0 == 0 }) { return nil }
        }
        return nil
    }

    /// Returns, for each offset of the range, whether a match can begin at the offset and end at an allowed
    /// offset.
    ///
    /// Offsets count from the start of the range and include the end of the range.
    func starts(_ text: Span<UInt8>, _ range: Range<Int>, endingAt allowed: [Bool]) -> [Bool] {
        var result = [Bool](repeating: false, count: range.count + 1)
        var states = [UInt64](repeating: 0, count: self.width)
        var before = states
        var end = range.upperBound
        while end > range.lowerBound {
            if allowed[end - range.lowerBound] {
                for word in before.indices { before[word] |= self.last[word] }
            }
            var start = end - 1
            while start > range.lowerBound, UTF8Decoder.isContinuation(text[start]) { start -= 1 }
            let (scalar, _) = UTF8Decoder.scalar(text, index: start, end: range.upperBound)
            self.step(scalar, states: &states, next: &before, edges: self.precede)
            result[start - range.lowerBound] = self.intersects(states, self.first)
            end = start
        }
        return result
    }

    /// Advances the automaton by one character.
    ///
    /// Sets `states` to the states in `next` that accept the character, and then sets `next` to the
    /// successors of these states.
    private func step(
        _ scalar: UInt32,
        states: inout [UInt64],
        next: inout [UInt64],
        edges: [UInt64]
    ) {
        for word in states.indices { states[word] = 0 }
        var following = states
        for word in next.indices {
            var candidates = next[word]
            while candidates != 0 {
                let state = word * 64 + candidates.trailingZeroBitCount
                candidates &= candidates &- 1
                guard self.sets[state].contains(scalar) else { continue }
                states[word] |= 1 &<< UInt64(state % 64)
                for other in 0..<self.width { following[other] |= edges[state * self.width + other] }
            }
        }
        next = following
    }

    private func intersects(_ left: [UInt64], _ right: [UInt64]) -> Bool {
        left.indices.contains { left[$0] & right[$0] != 0 }
    }
}
