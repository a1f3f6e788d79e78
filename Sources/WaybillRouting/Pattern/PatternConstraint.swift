/// What a value has to look like.
enum PatternConstraint: Sendable, Hashable {
    case none
    case int
    case double
    case bool
    case uuid
    case regex(RegularExpression)

    /// The constraint that a type of the route language stands for, or nil when it is none.
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

    /// How the type is spelled.
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

    /// What a value that fails is not, for a sentence.
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

    /// How the constraint stands in the shape of a segment, in which names do not matter.
    var shape: String {
        switch self {
        case .none: ":"
        case .regex(let expression): ":(\(expression.source))"
        default: "<\(self.typeName)>"
        }
    }

    /// Whether a value, which is not empty, is as it has to be.
    func allows(_ text: Span<UInt8>, _ range: Range<Int>) -> Bool {
        switch self {
        case .none: true
        case .int: Decimal.int(text, range.lowerBound, range.upperBound) != nil
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
        // The fifth bit is set in the letters of both words anyway, and in no letter that is not meant.
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
