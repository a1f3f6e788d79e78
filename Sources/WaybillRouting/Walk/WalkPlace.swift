/// A node, and how many segments led to it.
struct WalkPlace {
    let node: UInt32
    let index: Int

    static var nowhere: Self { Self(node: TableCore.none, index: 0) }
}

/// A place where the walk may go on in another way if the one it took fails.
struct WalkChoice {
    var node: UInt32
    var index: UInt16
    var captures: UInt16
    /// The edge that comes next, or the segment at which a rest ended.
    var detail: UInt32 = 0
    /// What is to be tried next at the node.
    var step = WalkStep.mixed
}

extension WalkChoice {
    /// The choice of all ways from a place but the literal one.
    @inline(__always)
    init(_ place: WalkPlace, _ captured: Int) {
        self.node = place.node
        self.index = UInt16(truncatingIfNeeded: place.index)
        self.captures = UInt16(truncatingIfNeeded: captured)
    }
}

/// The ways on from a node that are not literal, best first.
enum WalkStep: UInt8, Comparable {
    case mixed
    case placeholder
    case any
    case rest
    case longerRest

    @inline(__always)
    static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
