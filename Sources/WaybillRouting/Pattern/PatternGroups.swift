/// Writes a pattern with optional groups out: `a(/b)(/c)` is `a/b/c`, `a/b`, `a/c` and `a`.
struct PatternGroups {
    /// The most groups; each doubles the ways to match.
    static let limit = 6

    private let path: [UInt8]
    private let error: (String) -> RoutingError

    init(_ path: [UInt8], _ error: @escaping (String) -> RoutingError) {
        self.path = path
        self.error = error
    }

    func expanded() throws(RoutingError) -> [[UInt8]] {
        var done: [[UInt8]] = []
        var open = [self.path]
        var groups = 0
        while let path = open.popLast() {
            guard let group = try self.firstGroup(in: path) else {
                if !done.contains(path) { done.append(path) }
                continue
            }
            let without = Array(path[..<group.lowerBound] + path[group.upperBound...])
            let with = Array(
                path[..<group.lowerBound] + path[(group.lowerBound + 1)..<(group.upperBound - 1)]
                    + path[group.upperBound...]
            )
            // Each group in a row is met once for each way through those before it.
            groups += 1
            guard groups < 1 << Self.limit else {
                throw self.error("the pattern has more than \(Self.limit) optional groups")
            }
            open += [without, with]
        }
        return done
    }

    /// The first group with its brackets.
    private func firstGroup(in path: [UInt8]) throws(RoutingError) -> Range<Int>? {
        var index = 0
        var start: Int?
        var depth = 0
        while index < path.count {
            if let end = SegmentSplitter.regexEnd(path, at: index) {
                index = end
                continue
            }
            switch path[index] {
            case UInt8(ascii: "("):
                if start == nil, index + 1 < path.count, path[index + 1] == UInt8(ascii: "/") {
                    start = index
                }
                if start != nil { depth += 1 }
            case UInt8(ascii: ")"):
                guard let start else { break }
                depth -= 1
                if depth == 0 { return start..<index + 1 }
            default: break
            }
            index += 1
        }
        if start != nil { throw self.error("an optional group is not closed") }
        return nil
    }
}
