/// The routes that are most similar to an address that matches no route.
struct Suggestions {
    /// The maximum number of suggestions.
    static let limit = 3
    /// The maximum number of examined routes, which limits the cost of an unmatched URL in a large table.
    static let maximumRoutes = 2_000
    /// The maximum number of routes whose edit distance is computed.
    ///
    /// A quick check of the patterns' bytes selects these routes.
    static let maximumComparisons = 256
    /// The maximum number of segments of an address for which edit distances are computed.
    static let maximumSegments = 24
    /// The maximum edit distance of a suggestion, for an address of any length.
    static let maximumDistance = 12

    private struct Candidate {
        var distance: Int
        var generation: UInt32
        var text: String
    }

    private let scheme: [UInt8]
    private let segments: [[UInt8]]
    private let tolerance: Int
    private var candidates: [Candidate] = []
    /// A value whose wrong type alone prevents a match.
    ///
    /// If several routes have such a value, it is the value for the first route of ``similarRoutes(of:)``.
    private(set) var failure: Explanation.Failure?

    init(_ trie: RouteTrie, _ address: Address) {
        self.scheme = Array(address.scheme.utf8)
        self.segments = address.segments.map { Array($0.utf8) }
        // A third of the address's length. Routes at a larger distance are unrelated.
        let typed = self.segments.reduce(self.scheme.count) { $0 + $1.count }
        self.tolerance = min((typed + 2) / 3, Self.maximumDistance)
        for index in self.similarRoutes(of: trie).prefix(Self.maximumComparisons) {
            guard let pattern = trie.pattern(at: UInt32(index)) else { continue }
            self.consider(pattern, trie.routes[index].generation)
        }
    }

    /// Returns the indices of the routes whose patterns may be similar enough, the most similar first.
    private func similarRoutes(of trie: RouteTrie) -> [Int] {
        // Under other conventions, the text between two slashes of a pattern need not be a segment.
        let hasPlainText = trie.rules.conventions.host == .isFirstSegment
        var isInAddress = [Bool](repeating: false, count: 256)
        for byte in self.segments.joined() { isInAddress[Int(byte)] = true }
        var found: [(distance: Int, index: Int)] = []
        let routes = trie.routes.prefix(Self.maximumRoutes).enumerated()
        for (index, route) in routes where route.generation != 0 {
            let pattern = trie.texts[route.text]
            let distance = hasPlainText ? Self.leastDistance(to: pattern, isInAddress) : 0
            if distance <= self.tolerance { found.append((distance, index)) }
        }
        return found.sorted { ($0.distance, $0.index) < ($1.distance, $1.index) }.map(\.index)
    }

    /// Returns a lower bound of the distance to a pattern.
    ///
    /// Each byte of a literal segment counts as one edit if it occurs in no segment of the address. A segment
    /// counts as at most three edits.
    private static func leastDistance(to pattern: ArraySlice<UInt8>, _ isInAddress: [Bool]) -> Int {
        var distance = 0
        var segment = 0
        var isLiteral = true
        for byte in pattern {
            switch byte {
            case UInt8(ascii: "/"):
                if isLiteral { distance += min(segment, 3) }
                segment = 0
                isLiteral = true
            case UInt8(ascii: ":"), UInt8(ascii: "<"), UInt8(ascii: "{"), UInt8(ascii: "*"):
                isLiteral = false
            // The text after this byte may be optional, may represent another byte, or may not be part of the
            // pattern.
            case UInt8(ascii: "("), UInt8(ascii: "%"), UInt8(ascii: "?"), UInt8(ascii: " "): return 0
            default: if !isInAddress[Int(byte)] { segment += 1 }
            }
        }
        return isLiteral ? distance + min(segment, 3) : distance
    }

    /// The patterns of the most similar routes, the most similar first.
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

    /// Returns the edit distance between the address and a pattern.
    ///
    /// A missing or additional segment counts as at most three edits.
    private func distance(to variant: [PatternSegment]) -> Int? {
        guard self.segments.count <= Self.maximumSegments,
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

    /// Returns the value of the wrong type if a match fails only because of this value; otherwise nil.
    private func wrongType(in variant: [PatternSegment], _ pattern: RoutePattern) -> Explanation.Failure? {
        guard variant.count == self.segments.count else { return nil }
        var wrong: Explanation.Failure?
        for (part, segment) in zip(variant, self.segments) where part.distance(to: segment, limit: 0) != 0 {
            guard wrong == nil, case .compound(let pieces) = part, pieces.count == 1,
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

    /// The number of literal bytes in the segment, with one byte for each value.
    fileprivate var literalLength: Int {
        switch self {
        case .literal(let text): text.count
        case .compound(let pieces):
            pieces.reduce(0) { sum, piece in
                if case .literal(let text) = piece { sum + text.count } else { sum + 1 }
            }
        case .placeholder, .any, .rest: 1
        }
    }

    /// Returns the edit distance between a segment and the pattern's segment.
    ///
    /// Returns nil if the distance exceeds the limit or if every byte differs.
    fileprivate func distance(to segment: [UInt8], limit: Int) -> Int? {
        switch self {
        case .literal(let text):
            let distance = EditDistance.between(segment, text, limit: limit)
            return distance == max(segment.count, text.count) ? nil : distance
        case .placeholder, .any, .rest: return 0
        case .compound(let pieces):
            var state = HeapMatchState()
            let matcher = SegmentMatcher(pieces, folding: false)
            return matcher.matches(segment.span, range: 0..<segment.count, state: &state) ? 0 : 2
        }
    }
}
