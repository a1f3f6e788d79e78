/// A regular expression as it was read.
indirect enum RegexNode: Sendable, Hashable {
    case empty
    case set(CharacterSet)
    case sequence([RegexNode])
    case choice([RegexNode])
    case repetition(RegexNode, from: Int, to: Int?)
    /// `^`: nothing of the value may stand before it.
    case start
    /// `$`: nothing of the value may stand behind it.
    case end

    /// The text as a sequence of characters.
    static func text(_ text: String) -> Self { .sequence(text.unicodeScalars.map { .set(CharacterSet($0)) }) }

    static func optional(_ node: Self) -> Self { .repetition(node, from: 0, to: 1) }
    static func many(_ node: Self) -> Self { .repetition(node, from: 1, to: nil) }
}
