/// The patterns that another node has announced, in one byte array.
///
/// A node stores thousands of patterns of other nodes, and a byte array needs less memory than a set of
/// strings. The node converts the patterns to strings only when the other node announces a change.
struct PatternList: Sendable, Equatable {
    private var bytes: [UInt8] = []
    /// The end of each pattern in `bytes`.
    private var ends: [UInt32] = []

    init() {}

    init(_ patterns: Set<String>) {
        self.ends.reserveCapacity(patterns.count)
        for pattern in patterns {
            self.bytes += pattern.utf8
            self.ends.append(UInt32(self.bytes.count))
        }
    }

    var count: Int { self.ends.count }

    /// The number of bytes in all patterns.
    var byteCount: Int { self.bytes.count }

    var patterns: Set<String> {
        var patterns = Set<String>(minimumCapacity: self.ends.count)
        var start = 0
        for end in self.ends {
            patterns.insert(String(decoding: self.bytes[start..<Int(end)], as: UTF8.self))
            start = Int(end)
        }
        return patterns
    }

    static func == (left: Self, right: Self) -> Bool { left.patterns == right.patterns }
}
