/// A hash table with open addressing in one array.
///
/// A lookup begins at ``start(_:)`` and continues with ``next(_:)`` until it finds the wanted slot or a free
/// slot.
struct SlotTable<Slot: TableSlot>: Sendable {
    private(set) var slots = [Slot](repeating: Slot(), count: 16)
    private(set) var count = 0
    private var shift: UInt64 = 60

    /// Returns the first slot that a lookup of a hash examines.
    func start(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: hash &>> self.shift) }

    func next(_ slot: Int) -> Int { (slot &+ 1) & (self.slots.count &- 1) }

    mutating func insert(_ slot: Slot) {
        if self.count * 4 >= self.slots.count * 3 { self.grow() }
        self.store(slot)
        self.count += 1
    }

    private mutating func store(_ slot: Slot) {
        var at = self.start(slot.hash)
        while !self.slots[at].isFree { at = self.next(at) }
        self.slots[at] = slot
    }

    private mutating func grow() {
        let old = self.slots
        self.slots = [Slot](repeating: Slot(), count: old.count * 2)
        self.shift -= 1
        for slot in old where !slot.isFree { self.store(slot) }
    }

    /// Removes the entry for which a condition is true, and moves up the later entries of its sequence of
    /// slots.
    mutating func remove(_ hash: UInt64, where isWanted: (Slot) -> Bool) {
        var hole = self.start(hash)
        while !isWanted(self.slots[hole]) {
            guard !self.slots[hole].isFree else { return }
            hole = self.next(hole)
        }
        self.count -= 1
        var at = self.next(hole)
        while !self.slots[at].isFree {
            let home = self.start(self.slots[at].hash)
            // An entry may move if the hole is between the first slot of its lookup and its current slot.
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

/// A slot of a ``SlotTable``, which is free when it is new.
protocol TableSlot: Sendable {
    init()
    var isFree: Bool { get }
    /// A hash whose high bits depend on every bit of the key.
    var hash: UInt64 { get }
}
