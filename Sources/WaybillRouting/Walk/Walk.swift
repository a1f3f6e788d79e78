/// What a walk through the trie remembers: what it has captured, where it may go on, and where it has been.
///
/// There are two, as there are two scans: ``SmallWalk`` needs no memory, ``LargeWalk`` takes over where it gets full.
protocol Walk: ~Copyable {
    /// Whether every way through the trie is taken, and not just the best.
    static var takesAll: Bool { get }
    /// Takes a leaf that was found; false if only the best one is looked for.
    mutating func keep(_ leaf: UInt32) -> Bool

    /// How many values have been captured.
    var captured: Int { get }
    /// Whether something could not be remembered, so that nothing found is to be relied on.
    var isFull: Bool { get }

    /// The best way so far, where the first one that is found need not be it.
    var best: WalkBest? { get set }

    init()

    mutating func push(_ choice: WalkChoice)
    mutating func pop() -> WalkChoice?

    /// Keeps the places from now on that the walk comes to: only behind a rest can one be reached in two ways.
    mutating func beginWatching()
    /// Whether the walk may go on at a place: it may not where it has been before.
    mutating func enters(_ place: WalkPlace) -> Bool

    mutating func capture(_ range: URLRange)
    /// One of the captured values.
    mutating func capture(at index: Int) -> URLRange
    /// Puts another range in the place of a captured one.
    mutating func replace(_ index: Int, with range: URLRange)
    /// Forgets all but the first values.
    mutating func forgetCaptures(behind count: Int)
    /// The first eight values, as a match keeps them.
    mutating func firstCaptures() -> Captures
}

extension Walk where Self: ~Copyable {
    @inline(__always)
    static var takesAll: Bool { false }

    mutating func keep(_ leaf: UInt32) -> Bool { false }
}

/// A leaf that was found, and what was captured on the way to it.
struct WalkBest {
    let leaf: UInt32
    let captures: [URLRange]
}
