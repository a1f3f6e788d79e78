/// The edit distance of two texts.
///
/// Edits are insertions, deletions, substitutions and transpositions of adjacent bytes.
package enum EditDistance {
    /// Returns the edit distance, or nil if the distance exceeds a limit.
    ///
    /// Texts whose lengths differ by more than the limit are not compared. A comparison ends when the
    /// distance exceeds the limit, because a text from outside the program may have thousands of bytes.
    package static func between(_ left: [UInt8], _ right: [UInt8], limit: Int) -> Int? {
        if left == right { return 0 }
        guard abs(left.count - right.count) <= limit else { return nil }
        var before = [Int](repeating: 0, count: right.count + 1)
        var previous = Array(0...right.count)
        var current = before
        var isLastAbove = false
        for (row, byte) in left.enumerated() {
            current[0] = row + 1
            var least = row + 1
            for column in right.indices {
                var best = min(previous[column + 1], current[column]) + 1
                best = min(best, previous[column] + (byte == right[column] ? 0 : 1))
                if row > 0, column > 0, byte == right[column - 1], left[row - 1] == right[column] {
                    best = min(best, before[column - 1] + 1)
                }
                current[column + 1] = best
                least = min(least, best)
            }
            // A transposition uses the row before the previous row. The comparison can therefore end only
            // after two rows whose distances all exceed the limit.
            if least > limit, isLastAbove { return nil }
            isLastAbove = least > limit
            (before, previous, current) = (previous, current, before)
        }
        let distance = previous[right.count]
        return distance <= limit ? distance : nil
    }
}
