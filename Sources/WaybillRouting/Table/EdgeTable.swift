/// All literal edges of a trie: one open-addressing hash table from parent and segment to child.
struct EdgeTable: Sendable {
    struct Slot: Sendable {
        var key: UInt64 = 0
        var parent: UInt32 = 0
        /// The node that the edge leads to; 0 marks a free slot.
        var child: UInt32 = 0
    }

    private(set) var slots = [Slot](repeating: Slot(), count: 16)
    private(set) var count = 0
    private var shift: UInt64 = 60

    /// A number whose high bits depend on every bit of both.
    @inline(__always)
    static func hash(_ parent: UInt32, _ key: UInt64) -> UInt64 {
        (key ^ (UInt64(parent) &* 0x9e37_79b9_7f4a_7c15)) &* 0xd6e8_feb8_6659_fd93
    }

    /// Where to begin looking.
    @inline(__always)
    func start(_ parent: UInt32, _ key: UInt64) -> Int {
        Int(truncatingIfNeeded: Self.hash(parent, key) &>> self.shift)
    }

    @inline(__always)
    func next(_ slot: Int) -> Int { (slot &+ 1) & (self.slots.count &- 1) }

    mutating func insert(parent: UInt32, key: UInt64, child: UInt32) {
        if self.count * 4 >= self.slots.count * 3 { self.grow() }
        self.place(Slot(key: key, parent: parent, child: child))
        self.count += 1
    }

    private mutating func place(_ slot: Slot) {
        var at = self.start(slot.parent, slot.key)
        while self.slots[at].child != 0 { at = self.next(at) }
        self.slots[at] = slot
    }

    private mutating func grow() {
        let old = self.slots
        self.slots = [Slot](repeating: Slot(), count: old.count * 2)
        self.shift -= 1
        for slot in old where slot.child != 0 { self.place(slot) }
    }

    /// Takes the edge to a child away and moves up what had to step aside for it.
    mutating func remove(parent: UInt32, key: UInt64, child: UInt32) {
        var hole = self.start(parent, key)
        while self.slots[hole].child != child {
            guard self.slots[hole].child != 0 else { return }
            hole = self.next(hole)
        }
        self.count -= 1
        var at = self.next(hole)
        while self.slots[at].child != 0 {
            let home = self.start(self.slots[at].parent, self.slots[at].key)
            // What lies between its home and the hole may move into the hole.
            let mask = self.slots.count - 1
            if (at - home) & mask >= (at - hole) & mask {
                self.slots[hole] = self.slots[at]
                hole = at
            }
            at = self.next(at)
        }
        self.slots[hole] = Slot()
    }
}
