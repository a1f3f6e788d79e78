/// A queue of timers, ordered by deadline, in which each timer has a payload.
///
/// The queue is a heap of 16-byte nodes over a table of slots. Adding a timer, removing a timer and removing
/// the earliest timer each cost O(log n). A removed timer's slot is used again for the next timer. The memory
/// therefore depends on the largest number of timers at one time, and not on the number of cancelled timers.
/// Timers with equal deadlines are removed in the order in which they were added.
struct TimerHeap<Payload> {
    /// A key that identifies one timer; it is invalid once the timer has fired or was removed.
    struct Key: Hashable {
        fileprivate var slot: UInt32
        fileprivate var generation: UInt32

        /// The key as a number that is never zero.
        var bits: UInt64 { UInt64(self.generation) << 32 | UInt64(self.slot) &+ 1 }

        fileprivate init(slot: UInt32, generation: UInt32) {
            self.slot = slot
            self.generation = generation
        }

        /// Creates a key from its number.
        init(bits: UInt64) {
            self.slot = UInt32(truncatingIfNeeded: bits &- 1)
            self.generation = UInt32(truncatingIfNeeded: bits >> 32)
        }
    }

    private struct Node {
        var deadline: Int64
        var sequence: UInt32
        var slot: UInt32

        func precedes(_ other: Node) -> Bool {
            if self.deadline != other.deadline { return self.deadline < other.deadline }
            // The sequence number wraps around. The comparison is correct because two timers in the heap are
            // never more than 2^31 additions apart.
            return Int32(bitPattern: self.sequence &- other.sequence) < 0
        }
    }

    private struct Slot {
        var payload: Payload?
        var generation: UInt32
        /// The index of the slot's node in the heap; for a free slot, the index of the next free slot.
        var link: UInt32
    }

    private static var arity: Int { 4 }
    private static var noSlot: UInt32 { .max }

    private var nodes: [Node] = []
    private var slots: [Slot] = []
    private var firstFree = TimerHeap.noSlot
    private var sequence: UInt32 = 0

    var count: Int { self.nodes.count }

    var nextDeadline: Int64? { self.nodes.first?.deadline }

    mutating func insert(_ payload: Payload, at deadline: Int64) -> Key {
        let slot = self.takeSlot(for: payload)
        self.nodes.append(Node(deadline: deadline, sequence: self.sequence, slot: slot))
        self.sequence &+= 1
        self.siftUp(self.nodes.count - 1)
        return Key(slot: slot, generation: self.slots[Int(slot)].generation)
    }

    /// Removes a timer and returns its payload, or nil if the timer has fired or was removed before.
    mutating func remove(_ key: Key) -> Payload? {
        let slot = Int(key.slot)
        guard slot < self.slots.count, self.slots[slot].generation == key.generation,
            self.slots[slot].payload != nil
        else { return nil }
        return self.removeNode(at: Int(self.slots[slot].link))
    }

    /// Removes and returns the earliest payload if its deadline has come.
    mutating func popDue(at now: Int64) -> Payload? {
        guard let first = self.nodes.first, first.deadline <= now else { return nil }
        return self.removeNode(at: 0)
    }

    /// Removes and returns every payload, earliest first.
    mutating func removeAll() -> [Payload] {
        var payloads: [Payload] = []
        payloads.reserveCapacity(self.nodes.count)
        while let payload = self.popDue(at: .max) { payloads.append(payload) }
        self = Self()
        return payloads
    }

    private mutating func takeSlot(for payload: Payload) -> UInt32 {
        guard self.firstFree != Self.noSlot else {
            self.slots.append(Slot(payload: payload, generation: 0, link: 0))
            return UInt32(self.slots.count - 1)
        }
        let slot = self.firstFree
        self.firstFree = self.slots[Int(slot)].link
        self.slots[Int(slot)].payload = payload
        return slot
    }

    private mutating func removeNode(at index: Int) -> Payload? {
        let slot = Int(self.nodes[index].slot)
        let last = self.nodes.removeLast()
        if index < self.nodes.count {
            self.nodes[index] = last
            self.slots[Int(last.slot)].link = UInt32(index)
            self.siftUp(index)
            self.siftDown(index)
        }
        let payload = self.slots[slot].payload.take()
        self.slots[slot].generation &+= 1
        self.slots[slot].link = self.firstFree
        self.firstFree = UInt32(slot)
        return payload
    }

    private mutating func siftUp(_ start: Int) {
        var index = start
        let node = self.nodes[index]
        while index > 0 {
            let parent = (index - 1) / Self.arity
            guard node.precedes(self.nodes[parent]) else { break }
            self.place(self.nodes[parent], at: index)
            index = parent
        }
        self.place(node, at: index)
    }

    private mutating func siftDown(_ start: Int) {
        var index = start
        let node = self.nodes[index]
        while true {
            let firstChild = index * Self.arity + 1
            guard firstChild < self.nodes.count else { break }
            var earliest = firstChild
            let end = min(firstChild + Self.arity, self.nodes.count)
            var child = firstChild + 1
            while child < end {
                if self.nodes[child].precedes(self.nodes[earliest]) { earliest = child }
                child += 1
            }
            guard self.nodes[earliest].precedes(node) else { break }
            self.place(self.nodes[earliest], at: index)
            index = earliest
        }
        self.place(node, at: index)
    }

    private mutating func place(_ node: Node, at index: Int) {
        self.nodes[index] = node
        self.slots[Int(node.slot)].link = UInt32(index)
    }
}
