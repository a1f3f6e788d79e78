/// What a walk through the trie remembers.
///
/// It is large, so it is never copied, and its methods are mutating even where they only read: those get its address,
/// while the others get its value, which the compiler would put into memory as a whole to read one element of it.
struct Walk: ~Copyable {
    /// A place where the walk may go on in another way if the one it took fails.
    struct Choice {
        var node: UInt32 = 0
        var index: UInt16 = 0
        var captures: UInt16 = 0
        /// The edge that comes next, or the segment at which a rest ended.
        var detail: UInt32 = 0
        /// What is to be tried next at the node.
        var step = Step.mixed
    }

    /// A node, and how many segments led to it.
    struct Place {
        let node: UInt32
        let index: Int

        static var nowhere: Self { Self(node: TableCore.none, index: 0) }
    }

    /// The ways on from a node, best first.
    enum Step: UInt8, Comparable {
        case literal
        case mixed
        case placeholder
        case any
        case rest
        case longerRest
    }

    static let inlineCapacity = 8
    /// How many places may be passed before they are kept, so that short walks need no memory.
    static let unseen = 48

    /// How many values have been captured.
    private(set) var captured = 0
    private var depth = 0
    /// How many places were passed since the walk went through a rest that is not the end; -1 before that.
    ///
    /// Only such rests can lead to one place in two ways.
    private var passed = -1
    // Written out, the values are put where they belong; repeated ones are made elsewhere and copied.
    private var captures: InlineArray<8, UInt32> = [0, 0, 0, 0, 0, 0, 0, 0]
    /// Two words for each choice.
    private var choices: InlineArray<16, UInt64> = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    private var spill: Spill?

    @inline(__always)
    init() {}

    private mutating func spilled() -> Spill {
        let spill = self.spill ?? Spill()
        self.spill = spill
        return spill
    }
}

extension Walk {
    @inline(__always)
    mutating func push(_ choice: Choice) {
        let depth = self.depth
        self.depth = depth &+ 1
        guard depth < Self.inlineCapacity else { return self.pushFar(choice) }
        self.choices[depth &* 2] =
            UInt64(choice.node) | UInt64(choice.index) &<< 32 | UInt64(choice.captures) &<< 48
        self.choices[depth &* 2 &+ 1] = UInt64(choice.detail) | UInt64(choice.step.rawValue) &<< 32
    }

    @inline(__always)
    mutating func pop() -> Choice? {
        guard self.depth > 0 else { return nil }
        self.depth &-= 1
        let depth = self.depth
        guard depth < Self.inlineCapacity else { return self.spilled().choices.popLast() }
        let place = self.choices[depth &* 2]
        let way = self.choices[depth &* 2 &+ 1]
        return Choice(
            node: UInt32(truncatingIfNeeded: place),
            index: UInt16(truncatingIfNeeded: place &>> 32),
            captures: UInt16(truncatingIfNeeded: place &>> 48),
            detail: UInt32(truncatingIfNeeded: way),
            step: Step(rawValue: UInt8(truncatingIfNeeded: way &>> 32)) ?? .literal
        )
    }

    @inline(never)
    private mutating func pushFar(_ choice: Choice) { self.spilled().choices.append(choice) }
}

extension Walk {
    /// Keeps the places from now on that the walk comes to.
    mutating func beginWatching() { self.passed = max(self.passed, 0) }

    /// Whether the walk may go on at a place: it may not where it has been before.
    @inline(__always)
    mutating func enters(_ place: Place) -> Bool { self.passed < 0 || self.isNew(place.node, place.index) }

    @inline(never)
    private mutating func isNew(_ node: UInt32, _ index: Int) -> Bool {
        self.passed += 1
        return self.passed <= Self.unseen || self.spilled().seen.insert(node, index)
    }
}

extension Walk {
    @inline(__always)
    mutating func capture(_ range: URLRange) {
        let count = self.captured
        self.captured = count &+ 1
        guard count < Captures.capacity else { return self.captureFar(range) }
        self.captures[count] = range.bits
    }

    /// Puts another range in the place of a captured one.
    mutating func replace(_ index: Int, with range: URLRange) {
        if index < Captures.capacity {
            self.captures[index] = range.bits
        } else {
            self.spilled().captures[index - Captures.capacity] = range
        }
    }

    /// One of the captured values.
    mutating func capture(at index: Int) -> URLRange {
        index < Captures.capacity
            ? URLRange(bits: self.captures[index]) : self.spilled().captures[index - Captures.capacity]
    }

    /// Forgets all but the first values.
    @inline(__always)
    mutating func forgetCaptures(behind count: Int) {
        if self.captured > Captures.capacity { self.forgetFar(behind: count) }
        self.captured = count
    }

    /// What was captured first, as a match keeps it.
    @inline(__always)
    mutating func firstCaptures() -> Captures {
        Captures(self.word(0), self.word(2), self.word(4), self.word(6))
    }

    /// What was captured behind that.
    mutating func otherCaptures() -> [URLRange] {
        self.captured > Captures.capacity ? self.spilled().captures : []
    }

    @inline(__always)
    private mutating func word(_ index: Int) -> UInt64 {
        UInt64(self.captures[index]) | UInt64(self.captures[index &+ 1]) &<< 32
    }

    @inline(never)
    private mutating func captureFar(_ range: URLRange) { self.spilled().captures.append(range) }

    @inline(never)
    private mutating func forgetFar(behind count: Int) {
        let spill = self.spilled()
        spill.captures.removeLast(spill.captures.count - max(0, count - Captures.capacity))
    }
}

extension Walk.Choice {
    /// The choice of all ways from a place but the literal one.
    @inline(__always)
    init(_ place: Walk.Place, _ captured: Int) {
        self.node = place.node
        self.index = UInt16(truncatingIfNeeded: place.index)
        self.captures = UInt16(truncatingIfNeeded: captured)
    }
}

extension Walk.Step {
    @inline(__always)
    static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
