@testable import WaybillRouting

/// A naive implementation of the route language.
///
/// The matcher generates each match of each pattern, and returns the most specific one.
struct ReferenceMatcher {
    /// One match of a pattern.
    struct Candidate {
        /// The rank of each segment.
        var steps: [Step] = []
        var values: [(name: String, value: String)] = []
        var handler = 0
    }

    /// The rank of one segment of a pattern.
    ///
    /// A smaller rank is more specific.
    struct Step: Comparable {
        var kind: Int
        var literalLength = 0
        var isUnconstrained = false
        var shape = ""
        var consumed = 1

        static func < (left: Self, right: Self) -> Bool {
            if left.kind != right.kind { return left.kind < right.kind }
            if left.literalLength != right.literalLength { return left.literalLength > right.literalLength }
            if left.isUnconstrained != right.isUnconstrained { return !left.isUnconstrained }
            if left.shape != right.shape {
                return Array(left.shape.utf8).lexicographicallyPrecedes(right.shape.utf8)
            }
            return left.consumed < right.consumed
        }
    }

    private(set) var patterns: [(pattern: RoutePattern, handler: Int)] = []

    /// Adds a pattern unless a pattern of the same shape exists.
    mutating func insert(_ pattern: RoutePattern, _ handler: Int) -> Bool {
        let shapes = Set(pattern.variants.map { Self.shape($0, pattern.scheme) })
        let rivals = self.patterns.flatMap { rival in
            rival.pattern.variants.map { Self.shape($0, rival.pattern.scheme) }
        }
        guard shapes.isDisjoint(with: rivals) else { return false }
        self.patterns.append((pattern, handler))
        return true
    }

    mutating func remove(_ handler: Int) { self.patterns.removeAll { $0.handler == handler } }

    /// Returns the handler and the values of the best match.
    func match(_ address: Address) -> (handler: Int, values: [String: String])? {
        var best: Candidate?
        for (pattern, handler) in self.patterns where pattern.scheme == address.scheme {
            for variant in pattern.variants {
                var candidates: [Candidate] = []
                self.candidates(variant[...], address.segments[...], Candidate(), &candidates)
                for var candidate in candidates {
                    candidate.handler = handler
                    // The first of several matches of equal rank is used, because its values are shorter.
                    if let rival = best, !Self.precedes(candidate, rival) { continue }
                    best = candidate
                }
            }
        }
        return best.map { ($0.handler, Dictionary($0.values, uniquingKeysWith: { _, last in last })) }
    }

    private static func precedes(_ left: Candidate, _ right: Candidate) -> Bool {
        left.steps.lexicographicallyPrecedes(right.steps)
    }

    private static func shape(_ variant: [PatternSegment], _ scheme: String) -> String {
        "\(scheme)|"
            + variant.map { segment in
                switch segment {
                case .literal(let text): "=" + String(decoding: text, as: UTF8.self)
                case .placeholder: ":"
                case .any: "*"
                case .rest: "**"
                case .compound(let pieces): "~" + Self.shape(pieces)
                }
            }.joined(separator: "|")
    }

    private static func shape(_ pieces: [PatternPiece]) -> String {
        pieces.map { piece in
            switch piece {
            case .literal(let text): PercentCoding.encode(text)
            case .value(nil, _): "*"
            case .value(_, .none): ":"
            case .value(_, .regex(let expression)): ":(\(expression.source))"
            case .value(_, let constraint): "<\(constraint.typeName)>"
            }
        }.joined()
    }

    private func candidates(
        _ pattern: ArraySlice<PatternSegment>,
        _ segments: ArraySlice<String>,
        _ candidate: Candidate,
        _ found: inout [Candidate]
    ) {
        guard let part = pattern.first else {
            if segments.isEmpty { found.append(candidate) }
            return
        }
        guard let segment = segments.first else { return }
        var candidate = candidate
        switch part {
        case .literal(let text):
            guard Array(segment.utf8) == text else { return }
            candidate.steps.append(Step(kind: 0))
            self.candidates(pattern.dropFirst(), segments.dropFirst(), candidate, &found)
        case .compound(let pieces):
            guard let values = self.split(segment[...], pieces[...]) else { return }
            let length = pieces.reduce(0) { if case .literal(let text) = $1 { $0 + text.count } else { $0 } }
            let isUnconstrained = pieces.allSatisfy {
                if case .value(_, let constraint) = $0 { constraint == .none } else { true }
            }
            candidate.steps.append(
                Step(
                    kind: 1,
                    literalLength: length,
                    isUnconstrained: isUnconstrained,
                    shape: Self.shape(pieces)
                )
            )
            candidate.values += values
            self.candidates(pattern.dropFirst(), segments.dropFirst(), candidate, &found)
        case .placeholder(let name):
            candidate.steps.append(Step(kind: 2))
            candidate.values.append((name, segment))
            self.candidates(pattern.dropFirst(), segments.dropFirst(), candidate, &found)
        case .any:
            candidate.steps.append(Step(kind: 3))
            self.candidates(pattern.dropFirst(), segments.dropFirst(), candidate, &found)
        case .rest(let name):
            for count in 1...segments.count {
                var longer = candidate
                longer.steps.append(Step(kind: 4, consumed: count))
                longer.values.append((name, segments.prefix(count).joined(separator: "/")))
                self.candidates(pattern.dropFirst(), segments.dropFirst(count), longer, &found)
            }
        }
    }

    /// Returns the values of a segment, each as short as possible, from left to right.
    private func split(
        _ text: Substring,
        _ pieces: ArraySlice<PatternPiece>
    ) -> [(name: String, value: String)]? {
        guard let piece = pieces.first else { return text.isEmpty ? [] : nil }
        switch piece {
        case .literal(let literal):
            guard text.utf8.starts(with: literal) else { return nil }
            return self.split(
                Substring(
                    text.unicodeScalars.dropFirst(
                        String(decoding: literal, as: UTF8.self).unicodeScalars.count
                    )
                ),
                pieces.dropFirst()
            )
        case .value(let name, let constraint):
            let scalars = text.unicodeScalars
            guard !scalars.isEmpty else { return nil }
            for count in 1...scalars.count {
                let value = String(scalars.prefix(count))
                guard Self.allows(constraint, value) else { continue }
                let left = Substring(scalars.dropFirst(count))
                guard let others = self.split(left, pieces.dropFirst()) else { continue }
                return (name.map { [($0, value)] } ?? []) + others
            }
            return nil
        }
    }

    private static func allows(_ constraint: PatternConstraint, _ value: String) -> Bool {
        switch constraint {
        case .none: true
        case .int: value.utf8.first != UInt8(ascii: " ") && Int(value) != nil
        case .double: value.wholeMatch(of: /[+\-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+\-]?[0-9]+)?/) != nil
        case .bool: ["true", "false", "1", "0"].contains(value.lowercased())
        case .uuid:
            value.wholeMatch(of: /[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}/) != nil
        case .regex(let expression):
            ((try? Regex(expression.source))?.matchingSemantics(.unicodeScalar).asciiOnlyClasses())
                .flatMap { try? $0.wholeMatch(in: value) } != nil
        }
    }
}

extension Regex {
    fileprivate func asciiOnlyClasses() -> Regex<Output> {
        self.asciiOnlyWordCharacters().asciiOnlyDigits().asciiOnlyWhitespace()
    }
}
