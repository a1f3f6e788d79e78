/// A regular expression that a value has to match from its beginning to its end, in linear time.
struct RegularExpression: Sendable {
    /// The expression as it was written, without anchors at its ends.
    let source: String
    let automaton: RegexAutomaton

    init(_ text: String) throws(RegexParser.Failure) {
        var parser = RegexParser(text)
        guard let node = try parser.parse().withoutAnchors() else {
            throw .init("an anchor stands where it can never match")
        }
        self.automaton = try RegexAutomaton(node)
        guard !self.automaton.sets.isEmpty else { throw .init("it matches nothing but the empty text") }
        var source = Substring(text)
        if source.hasPrefix("^") { source.removeFirst() }
        if source.hasSuffix("$"), !source.hasSuffix("\\$") { source.removeLast() }
        self.source = String(source)
    }
}

extension RegularExpression: Hashable {
    static func == (left: Self, right: Self) -> Bool { left.source == right.source }

    func hash(into hasher: inout Hasher) { hasher.combine(self.source) }
}
