/// Parses regular expressions: characters, classes, groups, alternatives, repetitions and anchors.
///
/// Lookaround and backreferences are rejected, because an automaton cannot match them in linear time.
struct RegexParser {
    private let scalars: [Unicode.Scalar]
    private var index = 0
    private var depth = 0

    /// The reason why a text is not a valid regular expression.
    struct Failure: Error {
        let message: String

        init(_ message: String) { self.message = message }
    }

    init(_ text: String) { self.scalars = Array(text.unicodeScalars) }

    mutating func parse() throws(Failure) -> RegexNode {
        let node = try self.choice()
        guard self.index == self.scalars.count else {
            throw Failure("a closing bracket has no opening bracket")
        }
        return node
    }

    private var next: Unicode.Scalar? { self.index < self.scalars.count ? self.scalars[self.index] : nil }

    private mutating func take() -> Unicode.Scalar? {
        guard let next = self.next else { return nil }
        self.index += 1
        return next
    }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard self.next == scalar else { return false }
        self.index += 1
        return true
    }

    private mutating func choice() throws(Failure) -> RegexNode {
        self.depth += 1
        defer { self.depth -= 1 }
        // The expression itself is the first level, outside of all groups.
        guard self.depth <= 33 else { throw Failure("groups are nested more than 32 deep") }
        var choices = [try self.sequence()]
        while self.take("|") { choices.append(try self.sequence()) }
        return choices.count == 1 ? choices[0] : .choice(choices)
    }

    private mutating func sequence() throws(Failure) -> RegexNode {
        var parts: [RegexNode] = []
        while let next = self.next, next != "|", next != ")" {
            let atom = try self.atom()
            parts.append(try self.repeated(atom))
        }
        return parts.isEmpty ? .empty : parts.count == 1 ? parts[0] : .sequence(parts)
    }

    private mutating func repeated(_ atom: RegexNode) throws(Failure) -> RegexNode {
        var bounds: (Int, Int?)?
        switch self.next {
        case "*": bounds = (0, nil)
        case "+": bounds = (1, nil)
        case "?": bounds = (0, 1)
        case "{": bounds = try self.bounds()
        default: break
        }
        guard let (from, to) = bounds else { return atom }
        // `bounds()` stops before the closing brace, so this step skips the last character of every
        // quantifier.
        self.index += 1
        // The shortest match is always used, so lazy and greedy quantifiers have the same meaning.
        _ = self.take("?")
        var isRepeated = self.next.map("*+?".unicodeScalars.contains) ?? false
        if self.next == "{" { isRepeated = try self.bounds() != nil }
        if isRepeated {
            throw Failure("a repetition follows another repetition")
        }
        return .repetition(atom, from: from, to: to)
    }

    /// Parses `{n}`, `{n,}` or `{n,m}` up to the closing brace, or returns nil for literal text.
    private mutating func bounds() throws(Failure) -> (Int, Int?)? {
        let start = self.index
        self.index += 1
        let from = self.number()
        var to = from
        if self.take(",") { to = self.number() }
        guard let from, self.next == "}" else {
            self.index = start
            return nil
        }
        if let to, to < from { throw Failure("the maximum of a repetition is less than its minimum") }
        return (from, to)
    }

    private mutating func number() -> Int? {
        var value: Int?
        while let next = self.next, let digit = Int(String(next)), next.isASCII {
            value = min((value ?? 0) * 10 + digit, 1 << 20)
            self.index += 1
        }
        return value
    }

    private mutating func atom() throws(Failure) -> RegexNode {
        guard let scalar = self.take() else { return .empty }
        switch scalar {
        case ".": return .set(.any)
        case "^": return .start
        case "$": return .end
        case "*", "+", "?": throw Failure("a repetition follows no expression")
        case "[": return .set(try self.set())
        case "\\": return try self.escape()
        case "(":
            if self.take("?") {
                guard self.take(":") else {
                    throw Failure("`(?:` is the only special group that is supported")
                }
            }
            let node = try self.choice()
            guard self.take(")") else { throw Failure("a group is not closed") }
            return node
        default: return .set(CharacterSet(scalar))
        }
    }

    private mutating func escape() throws(Failure) -> RegexNode {
        guard let letter = self.take() else { throw Failure("the expression ends with a backslash") }
        if let set = CharacterSet.escape(letter) { return .set(set) }
        return .set(CharacterSet(try Self.escaped(letter)))
    }

    private static func escaped(_ letter: Unicode.Scalar) throws(Failure) -> Unicode.Scalar {
        switch letter {
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "f": return "\u{c}"
        case "v": return "\u{b}"
        default:
            let isWordLike = letter.isASCII && ASCII.isNameTail(UInt8(letter.value))
            guard !isWordLike else { throw Failure("`\\\(letter)` is not a known escape") }
            return letter
        }
    }

    /// Parses the inside of square brackets.
    private mutating func set() throws(Failure) -> CharacterSet {
        let isNegated = self.take("^")
        var ranges: [ClosedRange<UInt32>] = []
        var isFirst = true
        while let scalar = self.take() {
            if scalar == "]", !isFirst { return CharacterSet(ranges, isNegated: isNegated) }
            isFirst = false
            guard let low = try self.member(scalar, &ranges) else { continue }
            guard self.next == "-", self.index + 1 < self.scalars.count, self.scalars[self.index + 1] != "]"
            else {
                ranges.append(low.value...low.value)
                continue
            }
            self.index += 1
            guard let end = self.take(), let high = try self.member(end, &ranges) else {
                // A class such as `\d` cannot end a range, so the character, the hyphen and the class are all
                // members.
                ranges += [low.value...low.value, 45...45]
                continue
            }
            guard low.value <= high.value else {
                throw Failure("the end of a range is less than its beginning")
            }
            ranges.append(low.value...high.value)
        }
        throw Failure("a set is not closed")
    }

    /// Parses one character of a set.
    ///
    /// For a class such as `\d`, adds the ranges of the class and returns nil.
    private mutating func member(
        _ scalar: Unicode.Scalar,
        _ ranges: inout [ClosedRange<UInt32>]
    ) throws(Failure) -> Unicode.Scalar? {
        guard scalar == "\\" else { return scalar }
        guard let letter = self.take() else { throw Failure("the expression ends with a backslash") }
        guard let set = CharacterSet.escape(letter) else {
            return letter == "b" ? "\u{8}" : try Self.escaped(letter)
        }
        ranges += set.isNegated ? Self.complement(set.ranges) : set.ranges
        return nil
    }

    private static func complement(_ ranges: [ClosedRange<UInt32>]) -> [ClosedRange<UInt32>] {
        var result: [ClosedRange<UInt32>] = []
        var low: UInt32 = 0
        for range in ranges {
            if low < range.lowerBound { result.append(low...range.lowerBound - 1) }
            low = range.upperBound + 1
        }
        result.append(low...0x10_ffff)
        return result
    }
}
