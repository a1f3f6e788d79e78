extension TableCore {
    /// Walks down the trie along an address and returns the best leaf.
    @inline(__always)
    func walk(_ walk: inout Walk, _ bytes: Span<UInt8>, _ scan: AddressScan) -> UInt32 {
        var node = self.root(bytes, scan)
        guard node != Self.none else { return Self.none }
        let isPlain = !scan.layout.hasEscapes && !self.rules.conventions.segmentsIgnoreCase
        let backtracks = self.rules.conventions.bestMatch != .literalWithoutBacktracking
        var index = 0
        var step = Walk.Step.literal
        while true {
            let place = self.nodes[Int(node)]
            var next = Self.none
            if index == scan.count {
                if place.leaf != Self.none { return place.leaf }
            } else {
                let segment = scan[index]
                if step == .literal {
                    if place.literals > 0 {
                        next = self.literalChild(of: node, segment, bytes, isPlain: isPlain)
                        if next != Self.none, place.placeholder != Self.none, backtracks {
                            walk.push(
                                .init(
                                    node: node,
                                    index: UInt32(truncatingIfNeeded: index),
                                    captures: walk.captures.count
                                )
                            )
                        }
                    }
                    step = .placeholder
                }
                if next == Self.none, step == .placeholder, place.placeholder != Self.none {
                    next = place.placeholder
                    walk.captures.append(TextRange(start: segment.start, end: segment.end))
                }
            }
            if next != Self.none {
                node = next
                index &+= 1
                step = .literal
                continue
            }
            guard let choice = walk.pop() else { return Self.none }
            node = choice.node
            index = Int(choice.index)
            step = choice.step
            walk.captures.truncate(to: choice.captures)
        }
    }

    /// The root of the address's scheme.
    @inline(__always)
    private func root(_ bytes: Span<UInt8>, _ scan: AddressScan) -> UInt32 {
        guard scan.layout.schemeEnd > 0 else { return self.defaultRoot }
        let end = Int(scan.layout.schemeEnd)
        guard end < 8, self.rules.conventions.schemeIgnoresCase, self.rules.conventions.schemeAliases.isEmpty
        else {
            let scheme = String(decoding: PercentCoding.decode(bytes, 0..<end), as: UTF8.self)
            return self.existingRoot(of: self.rules.conventions.folded(scheme: scheme)) ?? Self.none
        }
        // What a scheme may be made of stays as it is, or becomes lower case, with this bit set.
        let word = Word.prefix(Word.load(bytes, 0) | (Word.ones &* 0x20), end)
        let key = SegmentKey.short(word, end)
        return self.literalChild(
            of: Self.top,
            .init(start: 0, end: UInt32(end), key: key),
            bytes,
            isPlain: true
        )
    }
}
