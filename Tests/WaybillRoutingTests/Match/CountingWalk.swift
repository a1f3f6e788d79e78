@testable import WaybillRouting

/// A walk that counts its steps: time says little on a machine that does other things as well.
struct CountingWalk: Walk, ~Copyable {
    private var walk = LargeWalk()
    /// How often the walk came to a place, or back to a choice.
    private(set) var steps = 0

    var captured: Int { self.walk.captured }
    var isFull: Bool { false }
    var best: WalkBest? {
        get { self.walk.best }
        set { self.walk.best = newValue }
    }

    mutating func push(_ choice: WalkChoice) { self.walk.push(choice) }

    mutating func pop() -> WalkChoice? {
        self.steps += 1
        return self.walk.pop()
    }

    mutating func beginWatching() { self.walk.beginWatching() }

    mutating func enters(_ place: WalkPlace) -> Bool {
        self.steps += 1
        return self.walk.enters(place)
    }

    mutating func capture(_ range: URLRange) { self.walk.capture(range) }
    mutating func capture(at index: Int) -> URLRange { self.walk.capture(at: index) }
    mutating func replace(_ index: Int, with range: URLRange) { self.walk.replace(index, with: range) }
    mutating func forgetCaptures(behind count: Int) { self.walk.forgetCaptures(behind: count) }
    mutating func firstCaptures() -> Captures { self.walk.firstCaptures() }

    /// How many steps a table takes for a URL under its default scheme.
    static func steps(_ table: RouteTable<Int>, _ url: String) -> Int {
        var scan = LargeScan()
        var walk = CountingWalk()
        let bytes = url.utf8.span
        _ = scan.read(bytes, table.core.rules)
        _ = table.box.walk(&walk, from: table.core.defaultRoot, to: scan.count, bytes, &scan)
        return walk.steps
    }
}
