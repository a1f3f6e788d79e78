extension TableCore {
    /// Walks down the trie along an address and returns the best leaf.
    ///
    /// At each node the ways on are tried from the most to the least specific. Where more than one is left, the walk
    /// remembers the place, and comes back to it when it gets stuck.
    @inline(__always)
    func walk(_ walk: inout Walk, from root: UInt32, _ bytes: Span<UInt8>, _ scan: AddressScan) -> UInt32 {
        let isPlain = !scan.layout.hasEscapes && !self.rules.conventions.segmentsIgnoreCase
        let bestMatch = self.rules.conventions.bestMatch
        var best = Best()
        var place = Walk.Choice(node: root, step: .literal)
        while true {
            let node = self.nodes[Int(place.node)]
            var next = Self.none
            if Int(place.index) == scan.count {
                if node.leaf != Self.none {
                    if bestMatch == .mostSpecific || bestMatch == .literalWithoutBacktracking {
                        return node.leaf
                    }
                    self.consider(node.leaf, walk.captures, &best)
                }
            } else if place.step == .literal {
                if node.literals > 0 {
                    next = self.literalChild(of: place.node, scan[Int(place.index)], bytes, isPlain: isPlain)
                }
                if next == Self.none {
                    if node.mixed | node.any | node.rest == 0 {
                        if node.placeholder != Self.none {
                            let segment = scan[Int(place.index)]
                            walk.captures.append(TextRange(start: segment.start, end: segment.end))
                            next = node.placeholder
                        }
                    } else {
                        place.step = .mixed
                        next = self.otherChild(node, &place, &walk, bytes, scan, isPlain: isPlain)
                    }
                } else if node.hasOthers, bestMatch != .literalWithoutBacktracking {
                    place.step = .mixed
                    place.captures = UInt16(truncatingIfNeeded: walk.captures.count)
                    walk.push(place)
                }
            } else {
                next = self.otherChild(node, &place, &walk, bytes, scan, isPlain: isPlain)
            }
            if next != Self.none {
                place.node = next
                place.index &+= 1
                place.step = .literal
                if !walk.seen.isActive || walk.seen.insert(next, Int(place.index)) { continue }
            }
            guard let choice = walk.pop() else { return self.finish(&walk, best) }
            place = choice
            walk.captures.truncate(to: UInt32(choice.captures))
        }
    }

    /// The child by the next way that is not literal; what is left to try is remembered.
    @inline(never)
    private func otherChild(
        _ node: Node,
        _ place: inout Walk.Choice,
        _ walk: inout Walk,
        _ bytes: Span<UInt8>,
        _ scan: AddressScan,
        isPlain: Bool
    ) -> UInt32 {
        let segment = scan[Int(place.index)]
        place.captures = UInt16(truncatingIfNeeded: walk.captures.count)
        let keepsChoices = self.rules.conventions.bestMatch != .literalWithoutBacktracking
        if place.step == .mixed {
            var edge = place.detail == 0 ? node.mixed : place.detail
            while edge != Self.none, edge != UInt32.max {
                let (next, child, number) = {
                    let edge = self.mixed[Int(edge)]
                    return (edge.next, edge.child, Int(edge.matcher))
                }()
                if self.matches(number, segment, bytes, &walk.captures, isPlain: isPlain) {
                    if keepsChoices {
                        place.detail = next == Self.none ? UInt32.max : next
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
            if node.placeholder != Self.none {
                if keepsChoices, node.any | node.rest != 0 {
                    place.step = .any
                    walk.push(place)
                }
                walk.captures.append(TextRange(start: segment.start, end: segment.end))
                return node.placeholder
            }
            place.step = .any
        }
        if place.step == .any {
            if node.any != Self.none {
                if keepsChoices, node.rest != Self.none {
                    place.step = .rest
                    walk.push(place)
                }
                return node.any
            }
            place.step = .rest
        }
        return node.rest == Self.none ? Self.none : self.restChild(node.rest, &place, &walk, scan)
    }

    /// The child behind a rest, which takes one segment at first and one more each time the walk comes back.
    private func restChild(
        _ child: UInt32,
        _ place: inout Walk.Choice,
        _ walk: inout Walk,
        _ scan: AddressScan
    ) -> UInt32 {
        let isEnd = !self.nodes[Int(child)].hasChildren
        let start = scan[Int(place.index)].start
        // The segment at which the rest ends; nothing can follow a rest that is the end of all its patterns.
        var end = place.step == .longerRest ? place.detail &+ 1 : place.index
        if isEnd { end = UInt32(truncatingIfNeeded: scan.count &- 1) }
        guard Int(end) < scan.count else { return Self.none }
        if !isEnd, Int(end) &+ 1 < scan.count {
            place.step = .longerRest
            place.detail = end
            walk.push(place)
            walk.seen.activate()
        }
        walk.captures.append(TextRange(start: start, end: scan[Int(end)].end))
        place.index = end
        place.detail = 0
        return child
    }

    /// Whether a segment passes an edge that only some may take.
    private func matches(
        _ matcher: Int,
        _ segment: AddressScan.Segment,
        _ bytes: Span<UInt8>,
        _ captures: inout Captures,
        isPlain: Bool
    ) -> Bool {
        let range = Int(segment.start)..<Int(segment.end)
        if isPlain { return self.matchers.all[matcher].matches(bytes, range, &captures) }
        let decoded = DecodedSegment(bytes, segment, folding: self.rules.conventions.segmentsIgnoreCase)
        let before = Int(captures.count)
        let whole = 0..<decoded.bytes.count
        guard self.matchers.all[matcher].matches(decoded.bytes.span, whole, &captures) else { return false }
        for index in before..<Int(captures.count) {
            captures.replace(index, with: decoded.original(captures[index]))
        }
        return true
    }
}
