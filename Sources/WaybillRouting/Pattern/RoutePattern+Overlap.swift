extension RoutePattern {
    /// Returns whether a URL possibly matches both this pattern and another pattern.
    ///
    /// If the result is false, no URL matches both patterns. Segments that combine text and values count as
    /// overlapping.
    package func mayOverlap(with other: RoutePattern) -> Bool {
        guard self.scheme == other.scheme else { return false }
        return self.variants.contains { own in
            other.variants.contains { SegmentOverlap(own, $0).mayOverlap }
        }
    }
}

/// A comparison that decides whether a path possibly matches two segment sequences.
private struct SegmentOverlap {
    private let left: [PatternSegment]
    private let right: [PatternSegment]

    init(_ left: [PatternSegment], _ right: [PatternSegment]) {
        self.left = left
        self.right = right
    }

    var mayOverlap: Bool {
        // `row[j]` is true when a path possibly matches both the left segments so far and the first j right
        // segments.
        var row = [Bool](repeating: false, count: self.right.count + 1)
        row[0] = true
        for segment in self.left {
            let before = row
            row[0] = false
            var isReachable = false
            for (column, other) in self.right.enumerated() {
                row[column + 1] =
                    (before[column] || segment.isRest && row[column] || other.isRest && before[column + 1])
                    && Self.mayOverlap(segment, other)
                isReachable = isReachable || row[column + 1]
            }
            if !isReachable { return false }
        }
        return row[self.right.count]
    }

    private static func mayOverlap(_ left: PatternSegment, _ right: PatternSegment) -> Bool {
        guard case .literal(let own) = left, case .literal(let other) = right else { return true }
        guard own.count == other.count else { return false }
        return own.indices.allSatisfy { ASCII.lowercased(own[$0]) == ASCII.lowercased(other[$0]) }
    }
}
