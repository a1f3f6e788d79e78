/// The routes nearest to an address that matched none.
struct Suggestions {
    /// The most that are named.
    static let limit = 3
    /// The most routes that are looked at, so that a miss stays cheap in a table of any size.
    static let searched = 2_000
    /// The most segments that are compared; nobody mistypes a longer path.
    static let longestPath = 24
    /// How far a suggestion may be away at most, however much was typed.
    static let farthest = 12

    private struct Candidate {
        var distance: Int
        var generation: UInt32
        var text: String
    }

    private let scheme: [UInt8]
    private let segments: [[UInt8]]
    private let tolerance: Int
    private var candidates: [Candidate] = []
    /// The first parameter, by registration, that had the wrong type where all else was right.
    private(set) var failure: Explanation.Failure?

    init(_ trie: RouteTrie, _ address: Address) {
        self.scheme = Array(address.scheme.utf8)
        self.segments = address.segments.map { Array($0.utf8) }
        // A third of what was typed: at more, what is suggested has nothing to do with it.
        let typed = self.segments.reduce(self.scheme.count) { $0 + $1.count }
        self.tolerance = min((typed + 2) / 3, Self.farthest)
        for index in trie.routes.indices.prefix(Self.searched) {
            guard let pattern = trie.pattern(at: UInt32(index)) else { continue }
            self.consider(pattern, trie.routes[index].generation)
        }
    }

    /// The patterns of the nearest routes, nearest first.
    var nearest: [String] {
        self.candidates.sorted { ($0.distance, $0.generation) < ($1.distance, $1.generation) }
            .prefix(Self.limit).map(\.text)
    }

    private mutating func consider(_ pattern: RoutePattern, _ generation: UInt32) {
        let scheme = EditDistance.between(Array(pattern.scheme.utf8), self.scheme, limit: self.tolerance)
        var best: Int?
        for variant in pattern.variants {
            if scheme != nil, let distance = self.distance(to: variant) {
                best = min(best ?? distance, distance)
            }
            if scheme == 0, self.failure == nil { self.failure = self.wrongType(in: variant, pattern) }
        }
        guard let best, let scheme, best + scheme <= self.tolerance else { return }
        self.candidates.append(
            Candidate(distance: best + scheme, generation: generation, text: pattern.text)
        )
    }

    /// How far the segments are from a pattern: letters that differ, or whole segments, which count as three at most.
    private func distance(to variant: [PatternSegment]) -> Int? {
        guard self.segments.count <= Self.longestPath,
            abs(self.segments.count - variant.count) <= 2 || variant.contains(where: \.isRest)
        else { return nil }
        var previous = [0]
        for segment in self.segments {
            previous.append(previous[previous.count - 1] + min(segment.count + 1, 3))
        }
        for part in variant {
            let missing = min(part.literalLength + 1, 3)
            var current = [previous[0] + missing]
            for (index, segment) in self.segments.enumerated() {
                var best = min(previous[index + 1] + missing, current[index] + min(segment.count + 1, 3))
                if let distance = part.distance(to: segment, limit: self.tolerance) {
                    best = min(best, previous[index] + distance)
                }
                if part.isRest { best = min(best, current[index]) }
                current.append(best)
            }
            previous = current
        }
        return previous[self.segments.count]
    }

    /// The value of the wrong type, if a pattern would match but for it.
    private func wrongType(in variant: [PatternSegment], _ pattern: RoutePattern) -> Explanation.Failure? {
        guard variant.count == self.segments.count else { return nil }
        var wrong: Explanation.Failure?
        for (part, segment) in zip(variant, self.segments) where part.distance(to: segment, limit: 0) != 0 {
            guard wrong == nil, case .mixed(let pieces) = part, pieces.count == 1,
                case .value(let name, let constraint) = pieces[0]
            else { return nil }
            let text = String(decoding: segment, as: UTF8.self)
            wrong = Explanation.Failure(
                name: name ?? "*",
                type: constraint.typeName,
                text: text,
                pattern: pattern.text,
                message: "`\(name ?? "*")` is not \(constraint.noun): \(text.onShortLine)"
            )
        }
        return wrong
    }
}

extension PatternSegment {
    var isRest: Bool { if case .rest = self { true } else { false } }

    /// How many bytes of text there are in the segment.
    fileprivate var literalLength: Int {
        switch self {
        case .literal(let text): text.count
        case .mixed(let pieces):
            pieces.reduce(0) { sum, piece in
                if case .literal(let text) = piece { sum + text.count } else { sum + 1 }
            }
        case .placeholder, .any, .rest: 1
        }
    }

    /// How many letters would have to change for a segment to match; nil if more than a limit, or all of
    /// them.
    fileprivate func distance(to segment: [UInt8], limit: Int) -> Int? {
        switch self {
        case .literal(let text):
            let distance = EditDistance.between(segment, text, limit: limit)
            return distance == max(segment.count, text.count) ? nil : distance
        case .placeholder, .any, .rest: return 0
        case .mixed(let pieces):
            var state = HeapMatchState()
            let matcher = SegmentMatcher(pieces, folding: false)
            return matcher.matches(segment.span, 0..<segment.count, &state) ? 0 : 2
        }
    }
}
