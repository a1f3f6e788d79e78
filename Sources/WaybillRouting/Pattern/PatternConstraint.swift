/// The type or the regular expression that a value must match.
enum PatternConstraint: Sendable, Hashable {
    case none
    case int
    case double
    case bool
    case uuid
    case regex(RegularExpression)

    /// Returns the constraint for a type of the route language, or nil for an unknown type.
    static func named(_ type: String) -> Self? {
        switch type {
        case "string": PatternConstraint.none
        case "int": .int
        case "double": .double
        case "bool": .bool
        case "uuid": .uuid
        default: nil
        }
    }

    /// The name of the type, as patterns spell it.
    var typeName: String {
        switch self {
        case .none: "string"
        case .int: "int"
        case .double: "double"
        case .bool: "bool"
        case .uuid: "uuid"
        case .regex: "regex"
        }
    }

    /// The noun for error messages, as in "is not an int".
    var noun: String {
        switch self {
        case .none: "text"
        case .int: "an int"
        case .double: "a double"
        case .bool: "a bool"
        case .uuid: "a uuid"
        case .regex(let expression): "matched by \(expression.source)"
        }
    }

    /// The constraint in a segment's shape, which is the segment without the names of its values.
    var shape: String {
        switch self {
        case .none: ":"
        case .regex(let expression): ":(\(expression.source))"
        default: "<\(self.typeName)>"
        }
    }

    /// Returns whether the constraint accepts a non-empty value.
    func allows(_ text: Span<UInt8>, _ range: Range<Int>) -> Bool {
        switch self {
        case .none: true
        case .int: Decimal.int(text, start: range.lowerBound, end: range.upperBound) != nil
        case .double: Decimal.isDouble(text, range)
        case .bool: Self.isBool(text, range)
        case .uuid: Self.isUUID(text, range)
        case .regex(let expression): expression.automaton.matches(text, range)
        }
    }

    private static func isBool(_ text: Span<UInt8>, _ range: Range<Int>) -> Bool {
        if range.count == 1 { return text[range.lowerBound] | 1 == UInt8(ascii: "1") }
        guard range.count == 4 || range.count == 5, range.count <= text.count else { return false }
        var word: UInt64 = 0
        for index in range { word = word << 8 | UInt64(text[index] | 0x20) }
        // Setting bit 5 folds the letters of both words to lower case. `isWord` excludes bytes that are not
        // letters.
        let isWord = range.allSatisfy { ASCII.isLetter(text[$0]) }
        return isWord && (word == 0x74_72_75_65 || word == 0x66_61_6c_73_65)
    }

    private static func isUUID(_ text: Span<UInt8>, _ range: Range<Int>) -> Bool {
        guard range.count == 36 else { return false }
        for offset in 0..<36 {
            let byte = text[range.lowerBound + offset]
            let isHyphen = offset == 8 || offset == 13 || offset == 18 || offset == 23
            guard isHyphen ? byte == UInt8(ascii: "-") : ASCII.hexValue(byte) != nil else { return false }
        }
        return true
    }
}

/// Automata for the types, which are used in segments with several adjacent pieces.
extension PatternConstraint {
    /// The automaton of the constraint; nil when it accepts every text, and for an integer.
    ///
    /// An automaton of the integers that fit 64 bits would have hundreds of states.
    var automaton: RegexAutomaton? {
        switch self {
        case .none, .int: nil
        case .double: Self.doubles
        case .bool: Self.bools
        case .uuid: Self.uuids
        case .regex(let expression): expression.automaton
        }
    }

    private static let doubles = Self.automaton(
        .sequence([
            .optional(.set(Self.signs)),
            .choice([
                .sequence([
                    .many(.set(.digit)),
                    .optional(.sequence([.text("."), .repetition(.set(.digit), from: 0, to: nil)])),
                ]),
                .sequence([.text("."), .many(.set(.digit))]),
            ]),
            .optional(
                .sequence([
                    .set(CharacterSet([69...69, 101...101])), .optional(.set(Self.signs)),
                    .many(.set(.digit)),
                ])
            ),
        ])
    )

    private static let bools = Self.automaton(
        .choice([
            .set(CharacterSet([48...49])), Self.anyCase("true"), Self.anyCase("false"),
        ])
    )

    private static let uuids = Self.automaton(
        .sequence(
            [8, 4, 4, 4, 12].enumerated()
                .flatMap { index, count in
                    (index == 0 ? [] : [RegexNode.text("-")])
                        + [.repetition(.set(Self.hexadecimals), from: count, to: count)]
                }
        )
    )

    private static let signs = CharacterSet([43...43, 45...45])
    private static let hexadecimals = CharacterSet([48...57, 65...70, 97...102])

    private static func anyCase(_ word: String) -> RegexNode {
        .sequence(
            word.unicodeScalars.map { letter in
                .set(CharacterSet([letter.value...letter.value, letter.value - 32...letter.value - 32]))
            }
        )
    }

    /// Builds an automaton of a built-in type, which cannot exceed the limit of states.
    private static func automaton(_ node: RegexNode) -> RegexAutomaton {
        var budget = RegexBudget.code
        do {
            return try RegexAutomaton(node, budget: &budget)
        } catch {
            preconditionFailure(
                "the automaton of a built-in parameter type exceeds its limit: \(error.message)"
            )
        }
    }
}
