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

    /// The child that a segment of an address leads to.
    @inline(__always)
    func literalChild(
        of parent: UInt32,
        _ segment: AddressScan.Segment,
        _ bytes: Span<UInt8>,
        isPlain: Bool
    ) -> UInt32 {
        var at = self.edges.start(parent, segment.key)
        while true {
            let slot = self.edges.slots[at]
            if slot.key == segment.key, slot.parent == parent,
                !SegmentKey.isHash(segment.key) || self.equals(slot.child, segment, bytes, isPlain: isPlain)
            {
                return slot.child
            }
            if slot.child == Self.none { return Self.none }
            at = self.edges.next(at)
        }
    }

    @inline(__always)
    private func equals(
        _ child: UInt32,
        _ segment: AddressScan.Segment,
        _ bytes: Span<UInt8>,
        isPlain: Bool
    ) -> Bool {
        let node = self.nodes[Int(child)]
        let length = Int(segment.end &- segment.start)
        guard isPlain else { return self.equalsDecoded(node, segment, bytes) }
        guard length == node.text.range.count else { return false }
        let text = self.texts.bytes.span
        let (left, right) = (Int(node.text.start), Int(segment.start))
        var index = 0
        while index &+ 8 <= length {
            if Word.load(text, left &+ index) != Word.load(bytes, right &+ index) { return false }
            index &+= 8
        }
        // The last eight bytes overlap with those before; long segments have at least eight.
        return Word.load(text, left &+ length &- 8) == Word.load(bytes, right &+ length &- 8)
    }

    @inline(never)
    private func equalsDecoded(_ node: Node, _ segment: AddressScan.Segment, _ bytes: Span<UInt8>) -> Bool {
        let folds = self.rules.conventions.segmentsIgnoreCase
        var index = Int(segment.start)
        var place = Int(node.text.start)
        let end = Int(node.text.end)
        let text = self.texts.bytes
        while index < Int(segment.end) {
            let (byte, length) = PercentCoding.byte(bytes, index, Int(segment.end))
            guard place < end, text[place] == (folds ? ASCII.lowercased(byte) : byte) else {
                return false
            }
            index += length
            place += 1
        }
        return place == end
    }
}
