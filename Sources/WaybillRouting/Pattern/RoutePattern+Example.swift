extension RoutePattern {
    /// Returns a URL that the pattern matches, with random values of the right types, for tests and checks.
    ///
    /// - Parameter generator: The source of randomness. A generator with the same seed yields the same URL.
    /// - Returns: A URL. In a table, another pattern may match this URL better.
    public func example(using generator: inout some RandomNumberGenerator) -> String {
        let variant = self.variants.randomElement(using: &generator) ?? []
        var sampler = PatternSampler(generator: generator)
        let segments = variant.map { sampler.text(of: $0) }
        generator = sampler.generator
        let hasHost = self.rules.conventions.host == .isFirstSegment
        return self.scheme + (hasHost ? "://" : ":/") + segments.joined(separator: "/")
    }
}

/// Generates random text that the segments of a pattern match.
struct PatternSampler<Generator: RandomNumberGenerator> {
    var generator: Generator
    /// The number of repetitions that the sampler may still add to the minimum of its regular expressions.
    ///
    /// Nested repetitions multiply, so the text could otherwise have any length.
    private var additionalRepetitions = 64

    init(generator: Generator) { self.generator = generator }

    /// Returns percent-encoded text for a segment of a pattern.
    ///
    /// For a catch-all segment (`rest`), the text contains one to three segments.
    mutating func text(of segment: PatternSegment) -> String {
        switch segment {
        case .literal(let text): return PercentCoding.encode(text)
        case .placeholder, .any: return self.word()
        case .rest:
            let count = Int.random(in: 1...3, using: &self.generator)
            return (0..<count).map { _ in self.word() }.joined(separator: "/")
        case .compound(let pieces):
            return pieces.reduce(into: "") { text, piece in
                switch piece {
                case .literal(let literal): text += PercentCoding.encode(literal)
                case .value(_, let constraint): text += PercentCoding.encode(self.value(constraint).utf8)
                }
            }
        }
    }

    /// Returns a value that a constraint allows.
    mutating func value(_ constraint: PatternConstraint) -> String {
        switch constraint {
        case .none: return self.word()
        case .int: return "\(Int.random(in: -999_999...999_999, using: &self.generator))"
        case .double: return "\(Int.random(in: 0...99_999, using: &self.generator)).25"
        case .bool: return Bool.random(using: &self.generator) ? "true" : "false"
        case .uuid:
            return [8, 4, 4, 4, 12].map { self.letters($0, of: "0123456789abcdef") }.joined(separator: "-")
        case .regex(let expression):
            var parser = RegexParser(expression.source)
            guard let node = try? parser.parse() else { return self.word() }
            // A value must not be empty, so try again if the chosen alternatives are empty.
            for _ in 0..<64 {
                let text = self.text(of: node)
                if !text.isEmpty { return text }
            }
            return self.word()
        }
    }

    private mutating func word() -> String {
        self.letters(Int.random(in: 6...10, using: &self.generator), of: "abcdefghijklmnopqrstuvwxyz")
    }

    private mutating func letters(_ count: Int, of alphabet: String) -> String {
        // Index the bytes of the alphabet. A string would find each character by counting from its start.
        let letters = (0..<count).compactMap { _ in alphabet.utf8.randomElement(using: &self.generator) }
        return String(decoding: letters, as: UTF8.self)
    }

    private mutating func text(of node: RegexNode) -> String {
        switch node {
        case .empty, .start, .end: return ""
        case .set(let set): return self.character(of: set)
        case .sequence(let nodes): return nodes.map { self.text(of: $0) }.joined()
        case .choice(let nodes):
            return nodes.randomElement(using: &self.generator).map { self.text(of: $0) } ?? ""
        case .repetition(let node, let from, let to):
            // The count is at least the minimum of the repetition and at most two above the minimum. If
            // possible, the count is at least one, because a value must not be empty.
            let most = min(to ?? from + 2, from + 2)
            let least = min(max(from, 1), most)
            let limit = min(most, least + self.additionalRepetitions)
            let count = Int.random(in: least...limit, using: &self.generator)
            self.additionalRepetitions -= count - least
            return (0..<count).map { _ in self.text(of: node) }.joined()
        }
    }

    private mutating func character(of set: CharacterSet) -> String {
        if set.isNegated {
            let readable = (UInt32(33)...126).filter { set.contains($0) }
            let value = readable.randomElement(using: &self.generator) ?? 0xe9
            return Unicode.Scalar(value).map { String(Character($0)) } ?? ""
        }
        let range = set.ranges.randomElement(using: &self.generator) ?? 97...97
        let value = UInt32.random(in: range, using: &self.generator)
        // A surrogate is not a character, so use the first character of the range instead.
        return (Unicode.Scalar(value) ?? Unicode.Scalar(range.lowerBound)).map { String(Character($0)) } ?? ""
    }
}

/// A random number generator whose sequence depends only on its seed.
///
/// A failure can therefore be reproduced.
///
/// The algorithm is SplitMix64 (Steele, Lea and Flood, 2014).
package struct SeededGenerator: RandomNumberGenerator {
    package private(set) var state: UInt64

    package init(seed: UInt64) { self.state = seed }

    package mutating func next() -> UInt64 {
        self.state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = self.state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
