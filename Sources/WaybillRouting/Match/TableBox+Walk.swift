extension TableBox {
    /// Walks down the trie along an address and returns the best leaf.
    ///
    /// At each node the ways on are tried from the most to the least specific. Where more than one is left, the walk
    /// remembers the place, and comes back to it when it gets stuck. This loop knows literals and placeholders; the
    /// rest is done elsewhere, so that everything here stays in registers.
    @inline(__always)
    func walk<Memory: Walk & ~Copyable>(
        _ walk: inout Memory,
        from root: UInt32,
        to end: Int,
        _ bytes: Span<UInt8>,
        _ scan: inout some AddressScan & ~Copyable
    ) -> UInt32 {
        let isPlain = !scan.layout.hasEscapes && !self.core.rules.foldsCase
        let backtracks = self.core.rules.backtracks
        var place = WalkPlace(node: root, index: 0)
        while true {
            // A node is not taken out as a whole: what of it is not needed would be put aside and take time.
            var next = TableCore.none
            if place.index == end {
                let leaf = self.core.nodes[Int(place.node)].leaf
                if leaf != TableCore.none {
                    if self.core.rules.stopsAtFirst, !Memory.takesAll { return leaf }
                    self.consider(leaf, &walk)
                }
            } else {
                if self.core.nodes[Int(place.node)].literals > 0 {
                    let segment = scan.segment(place.index)
                    next = self.literalChild(of: place.node, segment, bytes, isPlain: isPlain)
                    if next != TableCore.none, backtracks, self.core.nodes[Int(place.node)].hasOthers {
                        walk.push(WalkChoice(place, walk.captured))
                    }
                }
                if next == TableCore.none {
                    let node = self.core.nodes[Int(place.node)]
                    if node.mixed | node.any | node.rest != 0 {
                        let choice = WalkChoice(place, walk.captured)
                        let found = self.other(choice, &walk, end, bytes, &scan, isPlain: isPlain)
                        if found.node != TableCore.none {
                            place = found
                            continue
                        }
                    } else if node.placeholder != TableCore.none {
                        walk.capture(scan.range(place.index))
                        next = node.placeholder
                    }
                }
            }
            if next != TableCore.none {
                place = WalkPlace(node: next, index: place.index &+ 1)
                if walk.enters(place) { continue }
            }
            place = self.back(&walk, end, bytes, &scan, isPlain: isPlain)
            if place.node == TableCore.none { return self.finish(&walk) }
        }
    }

    /// Goes back to where another way is left, and takes it.
    @inline(never)
    private func back(
        _ walk: inout some Walk & ~Copyable,
        _ end: Int,
        _ bytes: Span<UInt8>,
        _ scan: inout some AddressScan & ~Copyable,
        isPlain: Bool
    ) -> WalkPlace {
        while let choice = walk.pop() {
            walk.forgetCaptures(behind: Int(choice.captures))
            let place = self.other(choice, &walk, end, bytes, &scan, isPlain: isPlain)
            if place.node != TableCore.none { return place }
        }
        return .nowhere
    }

    /// Goes on by the best way of a choice, unless that leads to a place where the walk has been before.
    @inline(never)
    private func other(
        _ choice: WalkChoice,
        _ walk: inout some Walk & ~Copyable,
        _ end: Int,
        _ bytes: Span<UInt8>,
        _ scan: inout some AddressScan & ~Copyable,
        isPlain: Bool
    ) -> WalkPlace {
        var choice = choice
        let node = self.core.nodes[Int(choice.node)]
        if choice.step < .rest {
            let next = self.singleChild(node, &choice, &walk, bytes, &scan, isPlain: isPlain)
            if next != TableCore.none {
                let place = WalkPlace(node: next, index: Int(choice.index) &+ 1)
                return walk.enters(place) ? place : .nowhere
            }
            choice.step = .rest
        }
        guard node.rest != TableCore.none else { return .nowhere }
        return self.placeBehindRest(node.rest, &choice, &walk, end, &scan)
    }

    /// The child by the next way that takes one segment and is not literal; what is left to try is remembered.
    private func singleChild(
        _ node: TableCore.Node,
        _ place: inout WalkChoice,
        _ walk: inout some Walk & ~Copyable,
        _ bytes: Span<UInt8>,
        _ scan: inout some AddressScan & ~Copyable,
        isPlain: Bool
    ) -> UInt32 {
        let segment = scan.segment(Int(place.index))
        place.captures = UInt16(truncatingIfNeeded: walk.captured)
        let keepsChoices = self.core.rules.backtracks
        if place.step == .mixed {
            var edge = place.detail == 0 ? node.mixed : place.detail
            while edge != TableCore.none, edge != UInt32.max {
                let (next, child, number) = {
                    let edge = self.core.mixed[Int(edge)]
                    return (edge.next, edge.child, Int(edge.matcher))
                }()
                if self.matches(number, segment, bytes, &walk, isPlain: isPlain) {
                    if keepsChoices {
                        place.detail = next == TableCore.none ? UInt32.max : next
                        walk.push(place)
                        place.detail = 0
                    }
                    return child
                }
                edge = next
            }
            place.detail = 0
            place.step = .placeholder
        }
        if place.step == .placeholder {
            if node.placeholder != TableCore.none {
                if keepsChoices, node.any | node.rest != 0 {
                    place.step = .any
                    walk.push(place)
                }
                walk.capture(segment.range)
                return node.placeholder
            }
            place.step = .any
        }
        guard node.any != TableCore.none else { return TableCore.none }
        if keepsChoices, node.rest != TableCore.none {
            place.step = .rest
            walk.push(place)
        }
        return node.any
    }

    /// The place behind a rest, which takes one segment at first and one more each time the walk comes back.
    private func placeBehindRest(
        _ child: UInt32,
        _ choice: inout WalkChoice,
        _ walk: inout some Walk & ~Copyable,
        _ count: Int,
        _ scan: inout some AddressScan & ~Copyable
    ) -> WalkPlace {
        let start = scan.range(Int(choice.index)).start
        // The segment at which the rest ends; nothing can follow a rest that is the end of all its patterns.
        let isEnd = !self.core.nodes[Int(child)].hasChildren
        let least = choice.step == .longerRest ? Int(choice.detail) &+ 1 : Int(choice.index)
        let end = isEnd ? count &- 1 : least
        guard end < count else { return .nowhere }
        let place = WalkPlace(node: child, index: end &+ 1)
        choice.captures = UInt16(truncatingIfNeeded: walk.captured)
        if !isEnd {
            walk.beginWatching()
            // Who was here before has taken every longer rest as well.
            guard walk.enters(place) else { return .nowhere }
            if end &+ 1 < count {
                choice.step = .longerRest
                choice.detail = UInt32(truncatingIfNeeded: end)
                walk.push(choice)
            }
        }
        walk.capture(URLRange(start, scan.range(end).end))
        return place
    }

    /// Whether a segment passes an edge that only some may take.
    private func matches(
        _ matcher: Int,
        _ segment: ScannedSegment,
        _ bytes: Span<UInt8>,
        _ walk: inout some Walk & ~Copyable,
        isPlain: Bool
    ) -> Bool {
        let range = segment.range.range
        if isPlain { return self.core.matchers.all[matcher].matches(bytes, range, &walk) }
        let decoded = DecodedSegment(bytes, segment, folding: self.core.rules.foldsCase)
        let before = walk.captured
        let whole = 0..<decoded.bytes.count
        guard self.core.matchers.all[matcher].matches(decoded.bytes.span, whole, &walk) else { return false }
        for index in before..<walk.captured {
            walk.replace(index, with: decoded.original(walk.capture(at: index)))
        }
        return true
    }
}
