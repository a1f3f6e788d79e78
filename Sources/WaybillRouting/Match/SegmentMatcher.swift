/// A matcher for one compound segment: a typed value, a glob, or several adjacent pieces.
///
/// The matcher does not depend on the names of parameters.
struct SegmentMatcher: Sendable {
    /// A piece of the segment, without its name.
    enum Piece: Sendable {
        case literal([UInt8])
        case value(PatternConstraint, isCaptured: Bool)
    }

    /// The algorithm that matches the segment.
    enum Kind: Sendable {
        /// A single constrained value is the whole segment.
        case whole(PatternConstraint, isCaptured: Bool)
        /// Text and unconstrained values.
        case glob
        /// Text and values, of which at least one is constrained.
        case constrained
    }

    let pieces: [Piece]
    let kind: Kind
    /// The text by which segments are compared.
    ///
    /// Two segments have the same shape if they match the same texts with the same specificity.
    let shape: String
    private let literalLength: Int
    private let isConstrained: Bool

    init(_ pieces: [PatternPiece], folding: Bool) {
        var shape = ""
        var length = 0
        var isConstrained = false
        self.pieces = pieces.map { piece in
            switch piece {
            case .literal(let text):
                let text = folding ? text.map(ASCII.lowercased) : text
                // The encoding distinguishes literal text from the characters that represent values.
                shape += PercentCoding.encode(text)
                length += text.count
                return .literal(text)
            case .value(let name, let constraint):
                shape += name == nil ? "*" : constraint.shape
                isConstrained = isConstrained || constraint != .none
                if folding, case .regex(let expression) = constraint {
                    return .value(.regex(expression.folded()), isCaptured: name != nil)
                }
                return .value(constraint, isCaptured: name != nil)
            }
        }
        self.shape = shape
        self.literalLength = length
        self.isConstrained = isConstrained
        if self.pieces.count == 1, case .value(let constraint, let isCaptured) = self.pieces[0] {
            self.kind = .whole(constraint, isCaptured: isCaptured)
        } else {
            self.kind = isConstrained ? .constrained : .glob
        }
    }

    /// Returns whether the edge of this matcher precedes another edge.
    ///
    /// A longer literal text comes first, then a constrained segment. All other edges are in the order of
    /// their shapes.
    func precedes(_ other: Self) -> Bool {
        if self.literalLength != other.literalLength { return self.literalLength > other.literalLength }
        if self.isConstrained != other.isConstrained { return self.isConstrained }
        return self.shape.utf8.lexicographicallyPrecedes(other.shape.utf8)
    }
}

extension SegmentMatcher {
    /// Returns whether the segment matches, and adds the captures of the segment to the state.
    func matches(_ text: Span<UInt8>, range: Range<Int>, state: inout some MatchState & ~Copyable) -> Bool {
        switch self.kind {
        case .whole(let constraint, let isCaptured):
            guard constraint.allows(text, range) else { return false }
            if isCaptured { state.capture(URLRange(range)) }
            return true
        case .glob: return self.matchesGlob(text, range: range, state: &state)
        case .constrained: return self.matchesConstrained(text, range: range, state: &state)
        }
    }

    /// Matches each literal text at its first occurrence.
    ///
    /// A later occurrence could not help the pieces after the text.
    private func matchesGlob(
        _ text: Span<UInt8>,
        range: Range<Int>,
        state: inout some MatchState & ~Copyable
    ) -> Bool {
        let before = state.captureCount
        var index = range.lowerBound
        var piece = 0
        while piece < self.pieces.count {
            switch self.pieces[piece] {
            case .literal(let literal):
                guard Self.matchesLiteral(literal, text: text, index: index, end: range.upperBound) else {
                    return false
                }
                index += literal.count
                piece += 1
            case .value(_, let isCaptured):
                guard index < range.upperBound,
                    let end = self.end(ofValue: piece, text, start: index, end: range.upperBound)
                else {
                    state.truncateCaptures(to: before)
                    return false
                }
                if isCaptured { state.capture(URLRange(index..<end)) }
                index = end
                piece += 1
            }
        }
        if index == range.upperBound { return true }
        state.truncateCaptures(to: before)
        return false
    }

    /// Returns the end of an unconstrained value that begins at an index.
    private func end(ofValue piece: Int, _ text: Span<UInt8>, start: Int, end: Int) -> Int? {
        guard piece + 1 < self.pieces.count else { return end }
        var next = start + 1
        while next < end, UTF8Decoder.isContinuation(text[next]) { next += 1 }
        guard case .literal(let literal) = self.pieces[piece + 1] else { return next }
        if piece + 2 == self.pieces.count {
            let literalStart = end - literal.count
            return literalStart >= next
                && Self.matchesLiteral(literal, text: text, index: literalStart, end: end)
                ? literalStart : nil
        }
        while next + literal.count <= end {
            if Self.matchesLiteral(literal, text: text, index: next, end: end) { return next }
            next += 1
        }
        return nil
    }

    static func matchesLiteral(_ literal: [UInt8], text: Span<UInt8>, index: Int, end: Int) -> Bool {
        guard index + literal.count <= end else { return false }
        for offset in literal.indices where text[index + offset] != literal[offset] { return false }
        return true
    }
}

extension SegmentMatcher {
    /// Matches text and values, each value as short as possible, in linear time.
    ///
    /// A backward pass finds the offsets from which the remaining pieces can match. In a forward pass, each
    /// value ends at the first of these offsets.
    func matchesConstrained(
        _ text: Span<UInt8>,
        range: Range<Int>,
        state: inout some MatchState & ~Copyable
    ) -> Bool {
        guard self.hasTextAtEnds(text, range) else { return false }
        let count = range.count
        var reachable = [[Bool]](repeating: [], count: self.pieces.count + 1)
        reachable[self.pieces.count] = (0...count).map { $0 == count }
        for index in self.pieces.indices.reversed() {
            reachable[index] = self.starts(
                of: self.pieces[index],
                text,
                range,
                endingAt: reachable[index + 1]
            )
        }
        guard reachable[0][0] else { return false }
        var start = 0
        for (index, piece) in self.pieces.enumerated() {
            switch piece {
            case .literal(let literal): start += literal.count
            case .value(let constraint, let isCaptured):
                let allowed = reachable[index + 1]
                let base = range.lowerBound
                let end: Int?
                if let automaton = constraint.automaton {
                    end = automaton.shortestEnd(text, base + start..<range.upperBound) { allowed[$0 - base] }
                        .map { $0 - base }
                } else {
                    end = (start + 1...count).first {
                        allowed[$0] && Self.isBoundary(text, index: base + $0, range: range)
                            && constraint.allows(text, base + start..<base + $0)
                    }
                }
                guard let end else { return false }
                if isCaptured { state.capture(URLRange(base + start..<base + end)) }
                start = end
            }
        }
        return true
    }

    /// Returns whether the segment begins and ends with the literal texts of the pattern's ends.
    private func hasTextAtEnds(_ text: Span<UInt8>, _ range: Range<Int>) -> Bool {
        let end = range.upperBound
        if case .literal(let first)? = self.pieces.first,
            !Self.matchesLiteral(first, text: text, index: range.lowerBound, end: end)
        {
            return false
        }
        guard case .literal(let last)? = self.pieces.last else { return true }
        return last.count <= range.count
            && Self.matchesLiteral(last, text: text, index: end - last.count, end: end)
    }

    /// Returns, for each offset, whether a piece can match from the offset to an allowed offset.
    private func starts(
        of piece: Piece,
        _ text: Span<UInt8>,
        _ range: Range<Int>,
        endingAt allowed: [Bool]
    ) -> [Bool] {
        let base = range.lowerBound
        switch piece {
        case .literal(let literal):
            return allowed.indices.map { offset in
                offset + literal.count < allowed.count && allowed[offset + literal.count]
                    && Self.matchesLiteral(literal, text: text, index: base + offset, end: range.upperBound)
            }
        case .value(let constraint, _):
            if let automaton = constraint.automaton {
                return automaton.starts(text, range, endingAt: allowed)
            }
            if constraint == .int { return Decimal.startsOfInts(text, range, endingAt: allowed) }
            var result = allowed
            var isReachable = false
            for offset in allowed.indices.reversed() {
                result[offset] = isReachable && Self.isBoundary(text, index: base + offset, range: range)
                if allowed[offset], Self.isBoundary(text, index: base + offset, range: range) {
                    isReachable = true
                }
            }
            return result
        }
    }

    /// Returns whether a character begins at an index, or the index is the end of the segment.
    private static func isBoundary(_ text: Span<UInt8>, index: Int, range: Range<Int>) -> Bool {
        index == range.upperBound || !UTF8Decoder.isContinuation(text[index])
    }
}

/// A segment after decoding and case folding, and the offsets of its bytes in the URL.
struct DecodedSegment {
    private(set) var bytes: [UInt8] = []
    private var offsets: [Int] = []

    init(_ text: Span<UInt8>, _ segment: ScannedSegment, folding: Bool) {
        var index = segment.range.start
        while index < segment.range.end {
            let (byte, length) = PercentCoding.byte(text, index: index, end: segment.range.end)
            self.bytes.append(folding ? ASCII.lowercased(byte) : byte)
            self.offsets.append(index)
            index += length
        }
        self.offsets.append(segment.range.end)
    }

    /// Returns the range in the URL for a range of the decoded segment.
    func original(_ range: URLRange) -> URLRange {
        URLRange(self.offsets[range.start], self.offsets[range.end])
    }
}

/// The matchers of a table, one for all segments that differ only in the names of their values.
struct MatcherPool: Sendable {
    private(set) var all: [SegmentMatcher] = []
    /// The regular expressions of the matchers before case folding, by their sources.
    ///
    /// Building an expression takes much longer than parsing the rest of a pattern. The parser therefore uses
    /// these expressions when it reads a pattern of the table again.
    private(set) var expressions: [ExactText: RegularExpression] = [:]
    private var numbers: [ExactText: UInt32] = [:]

    func number(of shape: String) -> UInt32? { self.numbers[ExactText(shape)] }

    /// Returns the number of a matcher, and adds the matcher with its pieces when it is new.
    mutating func number(of matcher: SegmentMatcher, _ pieces: [PatternPiece]) -> UInt32 {
        if let number = self.numbers[ExactText(matcher.shape)] { return number }
        for case .value(_, .regex(let expression)) in pieces {
            self.expressions[ExactText(expression.source)] = expression
        }
        self.all.append(matcher)
        let number = UInt32(self.all.count - 1)
        self.numbers[ExactText(matcher.shape)] = number
        return number
    }
}
