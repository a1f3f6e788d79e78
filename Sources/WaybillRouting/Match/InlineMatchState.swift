/// A match state in inline storage: eight captures, eight choice points, and a limited number of visits.
struct InlineMatchState: MatchState, ~Copyable {
    static let capacity = 8
    /// The maximum number of visits after a catch-all segment.
    ///
    /// This state only counts visits. For more visits, ``HeapMatchState`` records the visited positions.
    static let visitLimit = 48

    private(set) var captureCount = 0
    private(set) var hasOverflowed = false
    private var depth = 0
    private var visits = 0
    private var tracksVisits = false
    // A literal with all elements is initialised in place. `repeating:` would build a temporary array and
    // copy it.
    private var captures: InlineArray<8, UInt32> = [0, 0, 0, 0, 0, 0, 0, 0]
    /// The choice points, with two words for each.
    private var choices: InlineArray<16, UInt64> = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]

    /// The best leaf, which is always nil, because setting it marks this state as overflowed.
    ///
    /// The search is then repeated with a ``HeapMatchState``, which keeps the best leaf.
    var best: MatchCandidate? {
        get { nil }
        set { self.hasOverflowed = newValue != nil }
    }

    init() {}

    @inline(__always)
    mutating func push(_ choice: ChoicePoint) {
        let depth = self.depth
        guard depth < Self.capacity else {
            self.hasOverflowed = true
            return
        }
        self.depth = depth &+ 1
        self.choices[depth &* 2] =
            UInt64(choice.node) | UInt64(choice.index) &<< 32 | UInt64(choice.captures) &<< 48
        self.choices[depth &* 2 &+ 1] = UInt64(choice.detail) | UInt64(choice.branch.rawValue) &<< 32
    }

    mutating func pop() -> ChoicePoint? {
        guard self.depth > 0, !self.hasOverflowed else { return nil }
        self.depth &-= 1
        let positionWord = self.choices[self.depth &* 2]
        let branchWord = self.choices[self.depth &* 2 &+ 1]
        return ChoicePoint(
            node: UInt32(truncatingIfNeeded: positionWord),
            index: UInt16(truncatingIfNeeded: positionWord &>> 32),
            captures: UInt16(truncatingIfNeeded: positionWord &>> 48),
            detail: UInt32(truncatingIfNeeded: branchWord),
            branch: Branch(rawValue: UInt8(truncatingIfNeeded: branchWord &>> 32)) ?? .compound
        )
    }
}

extension InlineMatchState {
    mutating func trackVisits() { self.tracksVisits = true }

    mutating func markVisited(_ position: TriePosition) -> Bool { !self.tracksVisits || self.countVisit() }

    @inline(never)
    private mutating func countVisit() -> Bool {
        self.visits += 1
        if self.visits > Self.visitLimit { self.hasOverflowed = true }
        return !self.hasOverflowed
    }

    @inline(__always)
    mutating func capture(_ range: URLRange) {
        let count = self.captureCount
        self.captureCount = count &+ 1
        // The unsigned comparison also serves as the bounds check.
        guard UInt(bitPattern: count) < UInt(Self.capacity) else {
            self.hasOverflowed = true
            return
        }
        self.captures[count] = range.bits
    }

    mutating func capture(at index: Int) -> URLRange {
        index < Self.capacity ? URLRange(bits: self.captures[index]) : URLRange()
    }

    mutating func replace(_ index: Int, with range: URLRange) {
        if index < Self.capacity { self.captures[index] = range.bits }
    }

    mutating func truncateCaptures(to count: Int) { self.captureCount = count }

    mutating func firstCaptures() -> Captures {
        Captures(self.word(0), second: self.word(2), third: self.word(4), fourth: self.word(6))
    }

    private mutating func word(_ index: Int) -> UInt64 {
        UInt64(self.captures[index]) | UInt64(self.captures[index &+ 1]) &<< 32
    }
}
