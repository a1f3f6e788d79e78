/// A regular expression that matches whole values in linear time.
struct RegularExpression: Sendable {
    /// The source of the expression, without anchors at its start and end.
    let source: String
    private(set) var automaton: RegexAutomaton

    /// Creates an expression by parsing a text, and subtracts the work from the budget.
    init(_ text: String, budget: inout RegexBudget) throws(RegexParser.Failure) {
        var parser = RegexParser(text)
        let node = try parser.parse().withoutAnchors()
        self.automaton = try RegexAutomaton(node, budget: &budget)
        guard !self.automaton.sets.isEmpty else { throw .init("it matches only the empty text") }
        self.source = Self.source(of: text)
    }

    /// Returns the text of an expression without anchors at its start and end.
    static func source(of text: String) -> String {
        var source = Substring(text)
        // In `^?a`, the quantifier belongs to the anchor and would not be valid without it.
        if source.hasPrefix("^"), !"*+?{".contains(source.dropFirst().first ?? " ") { source.removeFirst() }
        if source.hasSuffix("$"), !source.hasSuffix("\\$") { source.removeLast() }
        return String(source)
    }
}

extension RegularExpression {
    /// Returns the expression for texts whose letters were folded to lower case.
    func folded() -> Self {
        var folded = self
        folded.automaton = self.automaton.folded()
        return folded
    }
}

extension RegularExpression: Hashable {
    /// Compares the bytes of the sources, because values are matched by their characters and not by
    /// canonical equivalence.
    static func == (left: Self, right: Self) -> Bool { left.source.hasSameBytes(as: right.source) }

    func hash(into hasher: inout Hasher) { hasher.combine(ExactText(self.source)) }
}

/// The syntax tree of a regular expression.
indirect enum RegexNode: Sendable, Hashable {
    case empty
    case set(CharacterSet)
    case sequence([RegexNode])
    case choice([RegexNode])
    case repetition(RegexNode, from: Int, to: Int?)
    /// `^`: the start of the value.
    case start
    /// `$`: the end of the value.
    case end

    /// Returns the sequence of the characters of a text.
    static func text(_ text: String) -> Self { .sequence(text.unicodeScalars.map { .set(CharacterSet($0)) }) }

    static func optional(_ node: Self) -> Self { .repetition(node, from: 0, to: 1) }
    static func many(_ node: Self) -> Self { .repetition(node, from: 1, to: nil) }
}

extension RegexNode {
    /// Returns the expression without anchors.
    ///
    /// An expression is always matched against the whole value. An anchor at the edge of the expression is
    /// therefore redundant. The method throws if an anchor is not at the edge, because an automaton cannot
    /// represent this anchor.
    func withoutAnchors() throws(RegexParser.Failure) -> RegexNode {
        try self.strip(atStart: true, atEnd: true)
    }

    private func strip(atStart: Bool, atEnd: Bool) throws(RegexParser.Failure) -> RegexNode {
        switch self {
        case .empty, .set: return self
        case .start where atStart, .end where atEnd: return .empty
        case .start: throw .init("`^` is not at the start of the expression: move or remove it")
        case .end: throw .init("`$` is not at the end of the expression: move or remove it")
        case .choice(let choices):
            return .choice(
                try choices.map { (choice) throws(RegexParser.Failure) in
                    try choice.strip(atStart: atStart, atEnd: atEnd)
                }
            )
        case .repetition(let node, let from, let to):
            // Another repetition can precede or follow the node unless the node occurs at most once.
            let isOnce = to.map { $0 <= 1 } ?? false
            let stripped = try node.strip(atStart: atStart && isOnce, atEnd: atEnd && isOnce)
            return .repetition(stripped, from: from, to: to)
        case .sequence(let parts):
            // Nodes that match only the empty text may precede or follow an anchor at the edge of the
            // sequence.
            let lastFirst = parts.prefix(while: \.isEmptyText).count
            let firstLast = parts.count - 1 - parts.reversed().prefix(while: \.isEmptyText).count
            var stripped: [RegexNode] = []
            for (index, part) in parts.enumerated() {
                let isFirst = atStart && index <= lastFirst
                let isLast = atEnd && index >= firstLast
                stripped.append(try part.strip(atStart: isFirst, atEnd: isLast))
            }
            return .sequence(stripped)
        }
    }

    /// Whether the node matches only the empty text.
    private var isEmptyText: Bool {
        switch self {
        case .empty, .start, .end: true
        case .set: false
        case .choice(let parts), .sequence(let parts): parts.allSatisfy(\.isEmptyText)
        case .repetition(let node, _, let to): to == 0 || node.isEmptyText
        }
    }
}

/// A set of characters that one position of a regular expression matches.
struct CharacterSet: Sendable, Hashable {
    /// The members; if the set is negated, the characters that are not members.
    ///
    /// The ranges are sorted and do not overlap, so that a search among many ranges is short.
    private(set) var ranges: [ClosedRange<UInt32>]
    var isNegated = false
    /// The members in ASCII, as a bit set.
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    init(_ ranges: [ClosedRange<UInt32>], isNegated: Bool = false) {
        self.ranges = []
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = self.ranges.last, range.lowerBound <= last.upperBound {
                let end = max(last.upperBound, range.upperBound)
                self.ranges[self.ranges.count - 1] = last.lowerBound...end
            } else {
                self.ranges.append(range)
            }
        }
        self.isNegated = isNegated
        for value in 0..<UInt32(128) where self.search(value) {
            if value < 64 { self.low |= 1 << UInt64(value) } else { self.high |= 1 << UInt64(value - 64) }
        }
    }

    init(_ scalar: Unicode.Scalar) { self.init([scalar.value...scalar.value]) }

    func contains(_ value: UInt32) -> Bool {
        if value < 64 { return self.low >> UInt64(value) & 1 != 0 }
        if value < 128 { return self.high >> UInt64(value - 64) & 1 != 0 }
        return self.search(value)
    }

    /// Returns the set for texts whose letters of ASCII were folded to lower case.
    ///
    /// A lower-case letter is in the set if one case of the letter was a member, or if neither case was
    /// excluded.
    func folded() -> Self {
        var folded = self
        // Bits 1 to 26 are the letters from `A` to `Z`, and the same bits of the upper half are `a` to `z`.
        let upper: UInt64 = 0x07ff_fffe
        let letters = (self.high & upper) << 32
        if self.isNegated { folded.high &= letters | ~(upper << 32) } else { folded.high |= letters }
        return folded
    }

    private func search(_ value: UInt32) -> Bool {
        // Find the first range that does not end before the value.
        var start = 0
        var end = self.ranges.count
        while start < end {
            let middle = (start + end) / 2
            if self.ranges[middle].upperBound < value { start = middle + 1 } else { end = middle }
        }
        return (start < self.ranges.count && self.ranges[start].lowerBound <= value) != self.isNegated
    }

    static let any = Self([], isNegated: true)
    static let digit = Self([48...57])
    static let word = Self([48...57, 65...90, 95...95, 97...122])
    static let space = Self([9...13, 32...32, 0xa0...0xa0, 0x2028...0x2029])

    /// Returns the set of `\d`, `\w`, `\s` or their negations, or nil for another letter.
    static func escape(_ letter: Unicode.Scalar) -> Self? {
        switch letter {
        case "d": .digit
        case "w": .word
        case "s": .space
        case "D": Self(Self.digit.ranges, isNegated: true)
        case "W": Self(Self.word.ranges, isNegated: true)
        case "S": Self(Self.space.ranges, isNegated: true)
        default: nil
        }
    }
}
