/// The places of a walk, each a node and a segment: whoever comes to one again has failed there before.
struct SeenPlaces {
    private var slots = [UInt64](repeating: 0, count: 128)
    private var count = 0

    /// Whether a place is new; it is seen from now on.
    mutating func insert(_ place: WalkPlace) -> Bool {
        if self.count * 2 >= self.slots.count { self.grow() }
        return self.place(UInt64(place.node) << 32 | UInt64(UInt32(truncatingIfNeeded: place.index)))
    }

    private mutating func place(_ value: UInt64) -> Bool {
        let mask = self.slots.count - 1
        var at = Int(truncatingIfNeeded: (value &* 0x9e37_79b9_7f4a_7c15) >> 32) & mask
        // Nodes begin with 1, so no place is zero.
        while self.slots[at] != 0 {
            if self.slots[at] == value { return false }
            at = (at + 1) & mask
        }
        self.slots[at] = value
        self.count += 1
        return true
    }

    private mutating func grow() {
        let old = self.slots
        self.slots = [UInt64](repeating: 0, count: old.count * 4)
        self.count = 0
        for value in old where value != 0 { _ = self.place(value) }
    }
}
