/// All literal edges of a trie: one open-addressing hash table from parent and segment key to child.
struct LiteralEdges: Sendable {
    struct Slot: Sendable {
        var key: UInt64 = 0
        var parent: UInt32 = 0
        /// The child; 0 marks a free slot.
        var child: UInt32 = 0
    }

    private(set) var slots = [Slot](repeating: Slot(), count: 16)
    private(set) var count = 0
    private var shift: UInt64 = 60

    /// A hash whose high bits depend on every bit of parent and key.
    @inline(__always)
    static func hash(_ parent: UInt32, _ key: UInt64) -> UInt64 {
        (key ^ (UInt64(parent) &* 0x9e37_79b9_7f4a_7c15)) &* 0xd6e8_feb8_6659_fd93
    }

    /// The first slot to probe.
    @inline(__always)
    func start(_ parent: UInt32, _ key: UInt64) -> Int {
        Int(truncatingIfNeeded: Self.hash(parent, key) &>> self.shift)
    }

    @inline(__always)
    func next(_ slot: Int) -> Int { (slot &+ 1) & (self.slots.count &- 1) }

    mutating func insert(parent: UInt32, key: UInt64, child: UInt32) {
        if self.count * 4 >= self.slots.count * 3 { self.grow() }
        self.store(Slot(key: key, parent: parent, child: child))
        self.count += 1
    }

    private mutating func store(_ slot: Slot) {
        var at = self.start(slot.parent, slot.key)
        while self.slots[at].child != 0 { at = self.next(at) }
        self.slots[at] = slot
    }

    private mutating func grow() {
        let old = self.slots
        self.slots = [Slot](repeating: Slot(), count: old.count * 2)
        self.shift -= 1
        for slot in old where slot.child != 0 { self.store(slot) }
    }

    /// Removes an edge and moves the following entries of its probe sequence up.
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
            // An entry may move if the hole lies between its first slot and where it is now.
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

/// The lookup key of a segment: its bytes and their count up to seven bytes, else a hash with the high bit
/// set.
///
/// The key is the same whether the bytes arrive as words from the text or one by one from a decoder. Equal
/// short keys mean equal segments, so only hashes need a comparison of texts.
struct SegmentKey {
    static let longFlag: UInt64 = 1 << 63

    private(set) var value: UInt64 = 0
    private(set) var count = 0
    private var word: UInt64 = 0

    /// Whether the key is a hash, so that equal keys do not imply equal segments.
    @inline(__always)
    static func isHash(_ key: UInt64) -> Bool { key & Self.longFlag != 0 }

    /// The key of fewer than eight bytes.
    @inline(__always)
    static func short(_ word: UInt64, _ count: Int) -> UInt64 { word | UInt64(count) &<< 56 }

    /// Mixes the next word, or the remainder after the last full word, into a hash.
    @inline(__always)
    static func mix(_ hash: UInt64, _ word: UInt64) -> UInt64 {
        let mixed = (hash ^ word) &* 0x9e37_79b9_7f4a_7c15
        return mixed ^ (mixed &>> 32)
    }

    mutating func append(_ byte: UInt8) {
        self.word |= UInt64(byte) &<< UInt64((self.count & 7) &* 8)
        self.count += 1
        if self.count & 7 == 0 {
            self.value = Self.mix(self.value, self.word)
            self.word = 0
        }
    }

    mutating func finish() {
        if self.count < 8 {
            self.value = Self.short(self.word, self.count)
        } else {
            if self.count & 7 != 0 { self.value = Self.mix(self.value, self.word) }
            self.value |= Self.longFlag
        }
    }

    /// The key of bytes in their compared form: decoded and folded.
    static func of(_ bytes: some Sequence<UInt8>) -> UInt64 {
        var key = Self()
        for byte in bytes { key.append(byte) }
        key.finish()
        return key.value
    }
}
