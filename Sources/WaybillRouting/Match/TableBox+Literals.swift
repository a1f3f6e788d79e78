extension TableBox {
    /// The child that a segment of an address leads to.
    @inline(__always)
    func literalChild(
        of parent: UInt32,
        _ segment: ScannedSegment,
        _ bytes: Span<UInt8>,
        isPlain: Bool
    ) -> UInt32 {
        var at = self.core.edges.start(parent, segment.key)
        while true {
            let slot = self.core.edges.slots[at]
            if slot.key == segment.key, slot.parent == parent,
                !SegmentKey.isHash(segment.key) || self.equals(slot.child, segment, bytes, isPlain: isPlain)
            {
                return slot.child
            }
            if slot.child == TableCore.none { return TableCore.none }
            at = self.core.edges.next(at)
        }
    }

    @inline(__always)
    private func equals(
        _ child: UInt32,
        _ segment: ScannedSegment,
        _ bytes: Span<UInt8>,
        isPlain: Bool
    ) -> Bool {
        let text = self.core.nodes[Int(child)].text
        guard isPlain else {
            return self.core.texts.equals(
                text,
                decoding: segment,
                of: bytes,
                folding: self.core.rules.foldsCase
            )
        }
        return self.core.texts.equals(text, segment, of: bytes)
    }
}
