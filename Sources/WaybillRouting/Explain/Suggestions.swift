/// The routes nearest to an address that matched none.
struct Suggestions {
    let core: TableCore
    let address: Address

    /// The most that are named.
    static let limit = 3

    /// The patterns of the nearest routes, nearest first.
    func nearest() -> [String] {
        let scheme = Array(self.address.scheme.utf8)
        let segments = self.address.segments.map { Array($0.utf8) }
        var candidates: [(distance: Int, generation: UInt32, text: String)] = []
        for record in self.core.routes {
            guard let pattern = record.pattern else { continue }
            let between = EditDistance.between(Array(pattern.scheme.utf8), scheme)
            guard
                let distance = pattern.variants.compactMap({ self.distance(segments, $0, between) }).min()
            else { continue }
            candidates.append((distance, record.generation, pattern.text))
        }
        candidates.sort { ($0.distance, $0.generation) < ($1.distance, $1.generation) }
        return candidates.prefix(Self.limit).map(\.text)
    }

    /// How far a pattern is from the address, or nil when they have too little in common.
    private func distance(_ segments: [[UInt8]], _ variant: [PatternSegment], _ scheme: Int) -> Int? {
        guard abs(segments.count - variant.count) <= 1 else { return nil }
        var distance = scheme
        var length = 0
        for (segment, part) in zip(segments, variant) {
            guard case .literal(let text) = part else { continue }
            distance += EditDistance.between(segment, text)
            length += text.count
        }
        if segments.count != variant.count { distance += 3 }
        return distance <= max(2, (length + 2) / 3 + 1) ? distance : nil
    }
}
