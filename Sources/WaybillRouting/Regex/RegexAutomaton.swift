/// A regular expression as an automaton without backtracking: one state per character of the expression (Glushkov).
///
/// All states that the text read so far may lead to are followed side by side, as bits of a few words, so the time is
/// at most length of text times length of expression, whatever the two are. It runs in both directions.
struct RegexAutomaton: Sendable, Hashable {
    /// The most states; counted repetitions are written out, so they count as often as they repeat.
    static let limit = 512

    let sets: [CharacterSet]
    /// Words per set of states.
    let width: Int
    let first: [UInt64]
    let last: [UInt64]
    /// For each state, the states that may come next, one set behind the other.
    let follow: [UInt64]
    /// For each state, the states that may have come before.
    let precede: [UInt64]

    init(_ node: RegexNode) throws(RegexParser.Failure) {
        var builder = RegexBuilder()
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
