/// The patterns that a node has announced, as one text: a node knows thousands of them, and looks at those of
/// one node when that announces a change.
struct PatternList: Sendable, Equatable {
    private var bytes: [UInt8] = []
    /// Where each pattern ends.
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

    /// How many bytes the patterns have.
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
