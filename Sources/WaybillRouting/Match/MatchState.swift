/// What a walk through the trie remembers: what it has captured, where it may go on, and where it has been.
///
/// There are two, as there are two scans: ``InlineMatchState`` needs no base, ``HeapMatchState`` takes over where it gets full.
protocol MatchState: ~Copyable {
    /// Whether every way through the trie is taken, and not just the best.
    static var collectsAll: Bool { get }
    /// Takes a leaf that was found; false if only the best one is looked for.
    mutating func collect(_ leaf: UInt32) -> Bool

    /// How many values have been captured.
    var captureCount: Int { get }
    /// Whether something could not be remembered, so that nothing found is to be relied on.
    var hasOverflowed: Bool { get }

    /// The best way so far, where the first one that is found need not be it.
    var best: MatchCandidate? { get set }

    init()

    mutating func push(_ choice: ChoicePoint)
    mutating func pop() -> ChoicePoint?

    /// Keeps the places from now on that the walk comes to: only behind a rest can one be reached in two ways.
    mutating func trackVisits()
    /// Whether the walk may go on at a place: it may not where it has been before.
    mutating func markVisited(_ position: TriePosition) -> Bool

    mutating func capture(_ range: URLRange)
    /// One of the captured values.
    mutating func capture(at index: Int) -> URLRange
    /// Puts another range in the place of a captured one.
    mutating func replace(_ index: Int, with range: URLRange)
    /// Forgets all but the first values.
    mutating func truncateCaptures(to count: Int)
    /// The first eight values, as a match keeps them.
    mutating func firstCaptures() -> Captures
}

extension MatchState where Self: ~Copyable {
    @inline(__always)
    static var collectsAll: Bool { false }

    mutating func collect(_ leaf: UInt32) -> Bool { false }
}

/// A leaf that was found, and what was captured on the way to it.
struct MatchCandidate {
    let leaf: UInt32
    let captures: [URLRange]
}

/// A node, and how many segments led to it.
struct TriePosition {
    let node: UInt32
    let index: Int

    static var none: Self { Self(node: RouteTrie.none, index: 0) }
}

/// A place where the walk may go on in another way if the one it took fails.
struct ChoicePoint {
    var node: UInt32
    var index: UInt16
    var captures: UInt16
    /// The edge that comes next, or the segment at which a rest ended.
    var detail: UInt32 = 0
    /// What is to be tried next at the node.
    var branch = Branch.mixed
}

extension ChoicePoint {
    /// The choice of all ways from a place but the literal one.
    @inline(__always)
    init(_ position: TriePosition, _ captureCount: Int) {
        self.node = position.node
        self.index = UInt16(truncatingIfNeeded: position.index)
        self.captures = UInt16(truncatingIfNeeded: captureCount)
    }
}

/// The ways on from a node that are not literal, best first.
enum Branch: UInt8, Comparable {
    case mixed
    case placeholder
    case any
    case rest
    case longerRest

    @inline(__always)
    static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
