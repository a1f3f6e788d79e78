/// A walk with room for eight values, eight choices, and a few places behind a rest.
struct SmallWalk: Walk, ~Copyable {
    static let capacity = 8
    /// How many places behind a rest may be entered before somebody has to remember which.
    static let unseen = 48

    private(set) var captured = 0
    private(set) var isFull = false
    private var depth = 0
    private var entered = 0
    private var isWatching = false
    // Written out, the values are put where they belong; repeated ones are made elsewhere and copied.
    private var captures: InlineArray<8, UInt32> = [0, 0, 0, 0, 0, 0, 0, 0]
    /// Two words for each choice.
    private var choices: InlineArray<16, UInt64> = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]

    /// A small walk takes the first way; who looks for the best one needs a large walk.
    var best: WalkBest? {
        get { nil }
        set { self.isFull = newValue != nil }
    }

    @inline(__always)
    init() {}

    @inline(__always)
    mutating func push(_ choice: WalkChoice) {
        let depth = self.depth
        guard depth < Self.capacity else {
            self.isFull = true
            return
        }
        self.depth = depth &+ 1
        self.choices[depth &* 2] =
            UInt64(choice.node) | UInt64(choice.index) &<< 32 | UInt64(choice.captures) &<< 48
        self.choices[depth &* 2 &+ 1] = UInt64(choice.detail) | UInt64(choice.step.rawValue) &<< 32
    }

    mutating func pop() -> WalkChoice? {
        guard self.depth > 0, !self.isFull else { return nil }
        self.depth &-= 1
        let place = self.choices[self.depth &* 2]
        let way = self.choices[self.depth &* 2 &+ 1]
        return WalkChoice(
            node: UInt32(truncatingIfNeeded: place),
            index: UInt16(truncatingIfNeeded: place &>> 32),
            captures: UInt16(truncatingIfNeeded: place &>> 48),
            detail: UInt32(truncatingIfNeeded: way),
            step: WalkStep(rawValue: UInt8(truncatingIfNeeded: way &>> 32)) ?? .mixed
        )
    }
}

extension SmallWalk {
    mutating func beginWatching() { self.isWatching = true }

    @inline(__always)
    mutating func enters(_ place: WalkPlace) -> Bool { !self.isWatching || self.entersUnseen() }

    @inline(never)
    private mutating func entersUnseen() -> Bool {
        self.entered += 1
        if self.entered > Self.unseen { self.isFull = true }
        return !self.isFull
    }

    @inline(__always)
    mutating func capture(_ range: URLRange) {
        let count = self.captured
        self.captured = count &+ 1
        guard count < Self.capacity else {
            self.isFull = true
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

    mutating func forgetCaptures(behind count: Int) { self.captured = count }

    @inline(__always)
    mutating func firstCaptures() -> Captures {
        Captures(self.word(0), self.word(2), self.word(4), self.word(6))
    }

    @inline(__always)
    private mutating func word(_ index: Int) -> UInt64 {
        UInt64(self.captures[index]) | UInt64(self.captures[index &+ 1]) &<< 32
    }
}
