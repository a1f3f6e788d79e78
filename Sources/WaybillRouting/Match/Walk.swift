/// What a walk through the trie remembers.
struct Walk {
    /// A place where the walk may go on in another way if the one it took fails.
    struct Choice {
        var node: UInt32 = 0
        var index: UInt32 = 0
        /// The edge that comes next, or the segment at which a rest ended.
        var detail: UInt32 = 0
        var captures: UInt16 = 0
        /// What is to be tried next at the node.
        var step = Step.mixed
    }

    /// The ways on from a node, best first.
    enum Step: UInt8 {
        case literal
        case mixed
        case placeholder
        case any
        case rest
        case longerRest
    }

    static let inlineCapacity = 8

    var captures = Captures()
    /// The places the walk has been at, kept from when it first went through a rest that is not the end.
    var seen = SeenPlaces()
    private var depth = 0
    private var first = InlineArray<8, Choice>(repeating: Choice())
    private var more: [Choice] = []

    @inline(__always)
    init() {}

    @inline(__always)
    mutating func push(_ choice: Choice) {
        if self.depth < Self.inlineCapacity { self.first[self.depth] = choice } else { self.overflow(choice) }
        self.depth &+= 1
    }

    @inline(__always)
    mutating func pop() -> Choice? {
        guard self.depth > 0 else { return nil }
        self.depth &-= 1
        return self.depth < Self.inlineCapacity ? self.first[self.depth] : self.more.removeLast()
    }

    @inline(never)
    private mutating func overflow(_ choice: Choice) { self.more.append(choice) }
}
