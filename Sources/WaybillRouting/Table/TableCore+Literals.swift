extension TableCore {
    /// The child that a literal segment of a pattern leads to.
    func literalChild(of parent: UInt32, key: UInt64, text: [UInt8]) -> UInt32 {
        var at = self.edges.start(parent, key)
        while true {
            let slot = self.edges.slots[at]
            if slot.child == Self.none { return Self.none }
            if slot.key == key, slot.parent == parent,
                !SegmentKey.isHash(key) || self.texts[self.nodes[Int(slot.child)].text].elementsEqual(text)
            {
                return slot.child
            }
            at = self.edges.next(at)
        }
    }
}
