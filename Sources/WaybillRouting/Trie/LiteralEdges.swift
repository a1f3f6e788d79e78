/// An edge of a trie for a literal segment.
///
/// One table contains all literal edges of a trie.
struct LiteralEdge: TableSlot {
    var key: UInt64 = 0
    var parent: UInt32 = 0
    /// The child node; 0 marks a free slot.
    var child: UInt32 = 0

    var isFree: Bool { self.child == RouteTrie.none }

    var hash: UInt64 { Self.hash(self.parent, self.key) }

    static func hash(_ parent: UInt32, _ key: UInt64) -> UInt64 {
        (key ^ (UInt64(parent) &* 0x9e37_79b9_7f4a_7c15)) &* 0xd6e8_feb8_6659_fd93
    }
}

extension SlotTable<LiteralEdge> {
    func start(_ parent: UInt32, _ key: UInt64) -> Int { self.start(LiteralEdge.hash(parent, key)) }

    mutating func insert(parent: UInt32, key: UInt64, child: UInt32) {
        self.insert(LiteralEdge(key: key, parent: parent, child: child))
    }

    mutating func remove(parent: UInt32, key: UInt64, child: UInt32) {
        self.remove(LiteralEdge.hash(parent, key)) { $0.child == child }
    }
}
