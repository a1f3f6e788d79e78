/// How far two texts are apart: insertions, removals, replacements and swaps of neighbours.
package enum EditDistance {
    package static func between(_ left: [UInt8], _ right: [UInt8]) -> Int {
        if left == right { return 0 }
        var before: [Int] = []
        var previous = Array(0...right.count)
        for (row, byte) in left.enumerated() {
            var current = [row + 1]
            current.reserveCapacity(right.count + 1)
            for column in right.indices {
                var best = min(previous[column + 1], current[column]) + 1
                best = min(best, previous[column] + (byte == right[column] ? 0 : 1))
                if row > 0, column > 0, byte == right[column - 1], left[row - 1] == right[column] {
                    best = min(best, before[column - 1] + 1)
                }
                current.append(best)
            }
            before = previous
            previous = current
        }
        return previous[right.count]
    }
}
