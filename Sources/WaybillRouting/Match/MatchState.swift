/// The state of one search: captures, the stack of choice points, and the visited positions.
///
/// ``InlineMatchState`` allocates nothing. If it overflows, the search is repeated with a ``HeapMatchState``.
protocol MatchState: ~Copyable {
    /// Whether the search visits every leaf, and not only the best one.
    static var collectsAll: Bool { get }
    /// Collects a leaf; returns false if the search looks for the best leaf only.
    mutating func collect(_ leaf: UInt32) -> Bool

    var captureCount: Int { get }
    /// Whether the state has exceeded its capacity, which makes the result of the search unusable.
    var hasOverflowed: Bool { get }

    /// The best leaf so far, for conventions under which the first leaf need not be the best.
    var best: MatchCandidate? { get set }

    init()

    mutating func push(_ choice: ChoicePoint)
    mutating func pop() -> ChoicePoint?

    /// Starts to record visited positions. A position can be reached twice only after a rest.
    mutating func trackVisits()
    /// Records a visit; returns false if the position was visited before.
    mutating func markVisited(_ position: TriePosition) -> Bool

    mutating func capture(_ range: URLRange)
    mutating func capture(at index: Int) -> URLRange
    /// Replaces the capture at an index.
    mutating func replace(_ index: Int, with range: URLRange)
    /// Drops all captures after the first `count`.
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

/// A position of the search: a node, and the number of segments consumed.
struct TriePosition {
    let node: UInt32
    let index: Int

    static var none: Self { Self(node: RouteTrie.none, index: 0) }
}

/// A position that has untried edges, for the case that the followed edge fails.
struct ChoicePoint {
    var node: UInt32
    var index: UInt16
    var captures: UInt16
    /// The next compound edge, or the last segment of the previous rest.
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

/// The non-literal edges of a node, most specific first.
enum Branch: UInt8, Comparable {
    case compound
    case placeholder
    case any
    case rest
    case longerRest

    static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
