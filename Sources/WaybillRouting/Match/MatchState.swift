/// The state of one search: captures, the stack of choice points, and the visited positions.
///
/// A leaf is the end of a pattern in the trie. ``InlineMatchState`` allocates no memory. If its capacity is
/// exceeded, the search is repeated with a ``HeapMatchState``.
protocol MatchState: ~Copyable {
    /// Whether the search visits every leaf, and not only the best leaf.
    static var collectsAll: Bool { get }
    /// Collects a leaf, or returns false if the search needs only the best leaf.
    mutating func collect(_ leaf: UInt32) -> Bool

    var captureCount: Int { get }
    /// Whether the state has exceeded its capacity, which makes the result of the search unusable.
    var hasOverflowed: Bool { get }

    /// The best leaf so far, for conventions under which the first leaf is possibly not the best.
    var best: MatchCandidate? { get set }

    init()

    mutating func push(_ choice: ChoicePoint)
    mutating func pop() -> ChoicePoint?

    /// Starts to record visited positions.
    ///
    /// Only after a catch-all segment can the search reach a position twice.
    mutating func trackVisits()
    /// Records a visit, or returns false if the position was visited before.
    mutating func markVisited(_ position: TriePosition) -> Bool

    mutating func capture(_ range: URLRange)
    mutating func capture(at index: Int) -> URLRange
    mutating func replace(_ index: Int, with range: URLRange)
    mutating func truncateCaptures(to count: Int)
    /// Returns the first eight captures in the packed form that a match stores.
    mutating func firstCaptures() -> Captures
}

extension MatchState where Self: ~Copyable {
    static var collectsAll: Bool { false }

    mutating func collect(_ leaf: UInt32) -> Bool { false }
}

/// A leaf that matches, with its captures.
struct MatchCandidate {
    let leaf: UInt32
    let captures: [URLRange]
}

/// A position of the search: a node of the trie, and the number of segments consumed.
struct TriePosition {
    let node: UInt32
    let index: Int

    static var none: Self { Self(node: RouteTrie.none, index: 0) }
}

/// A position with untried edges, to which the search returns if the followed edge fails.
struct ChoicePoint {
    var node: UInt32
    var index: UInt16
    var captures: UInt16
    /// The next compound edge, or the index of the last segment that the previous match of the catch-all
    /// consumed.
    var detail: UInt32 = 0
    /// The kind of edge to try next.
    var branch = Branch.compound
}

extension ChoicePoint {
    /// Creates the choice point of all non-literal edges of a position.
    init(_ position: TriePosition, _ captureCount: Int) {
        self.node = position.node
        self.index = UInt16(truncatingIfNeeded: position.index)
        self.captures = UInt16(truncatingIfNeeded: captureCount)
    }
}

/// The kinds of non-literal edges of a node, the most specific first.
enum Branch: UInt8, Comparable {
    case compound
    case placeholder
    case any
    case rest
    case longerRest

    static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
