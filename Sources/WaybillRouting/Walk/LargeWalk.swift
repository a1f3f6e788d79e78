/// A walk that remembers any number of values, choices and places.
struct LargeWalk: Walk, ~Copyable {
    private(set) var captures: [URLRange] = []
    var best: WalkBest?
    private var choices: [WalkChoice] = []
    private var seen: SeenPlaces?

    var captured: Int { self.captures.count }
    var isFull: Bool { false }

    mutating func push(_ choice: WalkChoice) { self.choices.append(choice) }

    mutating func pop() -> WalkChoice? { self.choices.popLast() }

    mutating func beginWatching() {
        if self.seen == nil { self.seen = SeenPlaces() }
    }

    mutating func enters(_ place: WalkPlace) -> Bool { self.seen?.insert(place) ?? true }

    mutating func capture(_ range: URLRange) { self.captures.append(range) }

    mutating func capture(at index: Int) -> URLRange { self.captures[index] }

    mutating func replace(_ index: Int, with range: URLRange) { self.captures[index] = range }

    mutating func forgetCaptures(behind count: Int) { self.captures.removeLast(self.captures.count - count) }

    mutating func firstCaptures() -> Captures {
        Captures(self.word(0), self.word(2), self.word(4), self.word(6))
    }

    private func word(_ index: Int) -> UInt64 {
        UInt64(self.bits(index)) | UInt64(self.bits(index + 1)) << 32
    }

    private func bits(_ index: Int) -> UInt32 { index < self.captures.count ? self.captures[index].bits : 0 }
}
