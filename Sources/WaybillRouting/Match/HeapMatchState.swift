/// A match state of any size.
struct HeapMatchState: MatchState, ~Copyable {
    private(set) var captures: [URLRange] = []
    var best: MatchCandidate?
    private var choices: [ChoicePoint] = []
    private var visited: VisitedPositions?

    var captureCount: Int { self.captures.count }
    var hasOverflowed: Bool { false }

    mutating func push(_ choice: ChoicePoint) { self.choices.append(choice) }

    mutating func pop() -> ChoicePoint? { self.choices.popLast() }

    mutating func trackVisits() {
        if self.visited == nil { self.visited = VisitedPositions() }
    }

    mutating func markVisited(_ position: TriePosition) -> Bool { self.visited?.insert(position) ?? true }

    mutating func capture(_ range: URLRange) { self.captures.append(range) }

    mutating func capture(at index: Int) -> URLRange { self.captures[index] }

    mutating func replace(_ index: Int, with range: URLRange) { self.captures[index] = range }

    mutating func truncateCaptures(to count: Int) { self.captures.removeLast(self.captures.count - count) }

    mutating func firstCaptures() -> Captures {
        Captures(self.word(0), second: self.word(2), third: self.word(4), fourth: self.word(6))
    }

    private func word(_ index: Int) -> UInt64 {
        UInt64(self.bits(index)) | UInt64(self.bits(index + 1)) << 32
    }

    private func bits(_ index: Int) -> UInt32 { index < self.captures.count ? self.captures[index].bits : 0 }
}

/// A set of visited positions.
///
/// If a search reaches a visited position again, it would fail there again.
struct VisitedPositions {
    private var slots = [UInt64](repeating: 0, count: 128)
    private var count = 0

    /// Inserts a position, or returns false if the set already contains the position.
    mutating func insert(_ position: TriePosition) -> Bool {
        if self.count * 2 >= self.slots.count { self.grow() }
        return self.insert(UInt64(position.node) << 32 | UInt64(UInt32(truncatingIfNeeded: position.index)))
    }

    private mutating func insert(_ value: UInt64) -> Bool {
        let mask = self.slots.count - 1
        var at = Int(truncatingIfNeeded: (value &* 0x9e37_79b9_7f4a_7c15) >> 32) & mask
        // Nodes are numbered from 1, so no position has the value zero, which marks a free slot.
        while self.slots[at] != 0 {
            if self.slots[at] == value { return false }
            at = (at + 1) & mask
        }
        self.slots[at] = value
        self.count += 1
        return true
    }

    private mutating func grow() {
        let old = self.slots
        self.slots = [UInt64](repeating: 0, count: old.count * 4)
        self.count = 0
        for value in old where value != 0 { _ = self.insert(value) }
    }
}
