/// A walk that takes every way through the trie and keeps all leaves that it comes to.
struct CollectingWalk<Memory: Walk & ~Copyable>: Walk, ~Copyable {
    /// A leaf, and what was captured on the way to it.
    struct Found {
        let leaf: UInt32
        let captures: Captures
        /// The values behind those.
        let overflow: [URLRange]
    }

    private var memory = Memory()
    private(set) var found: [Found] = []
    /// The leaves that were found since one can be reached in two ways.
    private var leaves: Set<UInt32> = []
    private var isWatching = false

    static var takesAll: Bool { true }

    mutating func keep(_ leaf: UInt32) -> Bool {
        // The first way to a leaf is the best.
        if self.isWatching, !self.leaves.insert(leaf).inserted { return true }
        var overflow: [URLRange] = []
        var index = Captures.capacity
        while index < self.captured {
            overflow.append(self.memory.capture(at: index))
            index += 1
        }
        self.found.append(Found(leaf: leaf, captures: self.memory.firstCaptures(), overflow: overflow))
        return true
    }

    /// There is no best one among those that are all taken.
    var best: WalkBest? {
        get { nil }
        set {}
    }

    var captured: Int { self.memory.captured }
    var isFull: Bool { self.memory.isFull }

    mutating func push(_ choice: WalkChoice) { self.memory.push(choice) }

    mutating func pop() -> WalkChoice? { self.memory.pop() }

    mutating func beginWatching() {
        self.memory.beginWatching()
        guard !self.isWatching else { return }
        self.isWatching = true
        self.leaves = Set(self.found.map(\.leaf))
    }

    mutating func enters(_ place: WalkPlace) -> Bool { self.memory.enters(place) }

    mutating func capture(_ range: URLRange) { self.memory.capture(range) }

    mutating func capture(at index: Int) -> URLRange { self.memory.capture(at: index) }

    mutating func replace(_ index: Int, with range: URLRange) { self.memory.replace(index, with: range) }

    mutating func forgetCaptures(behind count: Int) { self.memory.forgetCaptures(behind: count) }

    mutating func firstCaptures() -> Captures { self.memory.firstCaptures() }
}
