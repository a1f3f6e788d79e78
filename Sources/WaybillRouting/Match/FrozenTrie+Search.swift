extension FrozenTrie {
    /// Searches the trie depth first, with backtracking, and returns the best leaf.
    ///
    /// A leaf is the end of a pattern. At each node, the search tries the edges from the most specific to the
    /// least specific. If more than one edge is left, the search pushes a choice point, and returns to the
    /// choice point after a failure. This loop handles only literals and placeholders, so that its state
    /// stays in registers. Functions that are not inlined handle the other edges.
    @inline(__always)
    func search<State: MatchState & ~Copyable>(
        _ state: inout State,
        from root: UInt32,
        to end: Int,
        bytes: Span<UInt8>,
        scan: inout some AddressScan & ~Copyable
    ) -> UInt32 {
        let isPlain = !scan.layout.hasEscapes && !self.trie.rules.foldsCase
        let backtracks = self.trie.rules.backtracks
        var position = TriePosition(node: root, index: 0)
        while true {
            // Read single fields of a node. If the whole node were loaded, its unused fields would be stored
            // on the stack.
            var next = RouteTrie.none
            if position.index == end {
                let leaf = self.trie.nodes[Int(position.node)].leaf
                if leaf != RouteTrie.none {
                    if self.trie.rules.stopsAtFirst, !State.collectsAll { return leaf }
                    self.consider(leaf, &state)
                }
            } else {
                if self.trie.nodes[Int(position.node)].literals > 0 {
                    let segment = scan.segment(position.index)
                    next = self.literalChild(of: position.node, segment, bytes, isPlain: isPlain)
                    if next != RouteTrie.none, backtracks,
                        self.trie.nodes[Int(position.node)].hasNonLiteralEdges
                    {
                        state.push(ChoicePoint(position, state.captureCount))
                    }
                }
                if next == RouteTrie.none {
                    let node = self.trie.nodes[Int(position.node)]
                    if node.compound | node.any | node.rest != 0 {
                        let choice = ChoicePoint(position, state.captureCount)
                        let found = self.nextBranch(
                            choice,
                            state: &state,
                            end: end,
                            bytes: bytes,
                            scan: &scan,
                            isPlain: isPlain
                        )
                        if found.node != RouteTrie.none {
                            position = found
                            continue
                        }
                    } else if node.placeholder != RouteTrie.none {
                        state.capture(scan.range(position.index))
                        next = node.placeholder
                    }
                }
            }
            if next != RouteTrie.none {
                position = TriePosition(node: next, index: position.index &+ 1)
                if state.markVisited(position) { continue }
            }
            position = self.backtrack(&state, end: end, bytes: bytes, scan: &scan, isPlain: isPlain)
            if position.node == RouteTrie.none { return self.bestLeaf(&state) }
        }
    }

    /// Pops choice points until a choice point has an edge left, and follows that edge.
    @inline(never)
    private func backtrack(
        _ state: inout some MatchState & ~Copyable,
        end: Int,
        bytes: Span<UInt8>,
        scan: inout some AddressScan & ~Copyable,
        isPlain: Bool
    ) -> TriePosition {
        while let choice = state.pop() {
            state.truncateCaptures(to: Int(choice.captures))
            let position = self.nextBranch(
                choice,
                state: &state,
                end: end,
                bytes: bytes,
                scan: &scan,
                isPlain: isPlain
            )
            if position.node != RouteTrie.none { return position }
        }
        return .none
    }

    /// Follows the next edge of a choice point.
    ///
    /// Returns `.none` if no edge is left or the edge leads to a position that was visited before.
    @inline(never)
    func nextBranch(
        _ choice: ChoicePoint,
        state: inout some MatchState & ~Copyable,
        end: Int,
        bytes: Span<UInt8>,
        scan: inout some AddressScan & ~Copyable,
        isPlain: Bool
    ) -> TriePosition {
        var choice = choice
        let node = self.trie.nodes[Int(choice.node)]
        if choice.branch < .rest {
            let next = self.singleChild(
                node,
                choice: &choice,
                state: &state,
                bytes: bytes,
                scan: &scan,
                isPlain: isPlain
            )
            if next != RouteTrie.none {
                let position = TriePosition(node: next, index: Int(choice.index) &+ 1)
                return state.markVisited(position) ? position : .none
            }
            choice.branch = .rest
        }
        guard node.rest != RouteTrie.none else { return .none }
        return self.positionAfterRest(node.rest, choice: &choice, state: &state, count: end, scan: &scan)
    }

    /// Returns the child of the next edge that matches exactly one segment and is not literal.
    ///
    /// Pushes a choice point for the remaining edges.
    private func singleChild(
        _ node: RouteTrie.Node,
        choice: inout ChoicePoint,
        state: inout some MatchState & ~Copyable,
        bytes: Span<UInt8>,
        scan: inout some AddressScan & ~Copyable,
        isPlain: Bool
    ) -> UInt32 {
        let segment = scan.segment(Int(choice.index))
        choice.captures = UInt16(truncatingIfNeeded: state.captureCount)
        let keepsChoices = self.trie.rules.backtracks
        if choice.branch == .compound {
            var edge = choice.detail == 0 ? node.compound : choice.detail
            let isPast = edge == RouteTrie.none || edge == UInt32.max
            let decoded = isPlain || isPast ? nil : self.decoded(segment, bytes)
            while edge != RouteTrie.none, edge != UInt32.max {
                let (next, child, number) = {
                    let edge = self.trie.compoundEdges[Int(edge)]
                    return (edge.next, edge.child, Int(edge.matcher))
                }()
                if self.matches(number, segment: segment, decoded, bytes: bytes, state: &state) {
                    if keepsChoices {
                        choice.detail = next == RouteTrie.none ? UInt32.max : next
                        state.push(choice)
                        choice.detail = 0
                    }
                    return child
                }
                edge = next
            }
            choice.detail = 0
            choice.branch = .placeholder
        }
        if choice.branch == .placeholder {
            if node.placeholder != RouteTrie.none {
                if keepsChoices, node.any | node.rest != 0 {
                    choice.branch = .any
                    state.push(choice)
                }
                state.capture(segment.range)
                return node.placeholder
            }
            choice.branch = .any
        }
        guard node.any != RouteTrie.none else { return RouteTrie.none }
        if keepsChoices, node.rest != RouteTrie.none {
            choice.branch = .rest
            state.push(choice)
        }
        return node.any
    }

    /// Returns the position after a catch-all segment of a pattern (`rest`).
    ///
    /// The catch-all segment consumes one segment of the URL at first, and one more segment each time the
    /// search backtracks.
    private func positionAfterRest(
        _ child: UInt32,
        choice: inout ChoicePoint,
        state: inout some MatchState & ~Copyable,
        count: Int,
        scan: inout some AddressScan & ~Copyable
    ) -> TriePosition {
        let start = scan.range(Int(choice.index)).start
        // The index of the last segment that the catch-all segment consumes. If every pattern ends with this
        // catch-all segment, the catch-all consumes all remaining segments at once.
        let isEnd = !self.trie.nodes[Int(child)].hasChildren
        let least = choice.branch == .longerRest ? Int(choice.detail) &+ 1 : Int(choice.index)
        let end = isEnd ? count &- 1 : least
        guard end < count else { return .none }
        let position = TriePosition(node: child, index: end &+ 1)
        choice.captures = UInt16(truncatingIfNeeded: state.captureCount)
        if !isEnd {
            state.trackVisits()
            // The first visit to the position has also tried all longer matches of the catch-all segment.
            guard state.markVisited(position) else { return .none }
            if end &+ 1 < count {
                choice.branch = .longerRest
                choice.detail = UInt32(truncatingIfNeeded: end)
                state.push(choice)
            }
        }
        state.capture(URLRange(start, scan.range(end).end))
        return position
    }

    /// Returns a segment after decoding and case folding; nil when both leave the segment unchanged.
    @inline(never)
    private func decoded(_ segment: ScannedSegment, _ bytes: Span<UInt8>) -> DecodedSegment? {
        let foldsCase = self.trie.rules.foldsCase
        guard foldsCase || segment.range.range.contains(where: { bytes[$0] == UInt8(ascii: "%") }) else {
            return nil
        }
        return DecodedSegment(bytes, segment, folding: foldsCase)
    }

    /// Returns whether the matcher of a compound edge accepts a segment, and adds the captured values to the
    /// state.
    private func matches(
        _ matcher: Int,
        segment: ScannedSegment,
        _ decoded: DecodedSegment?,
        bytes: Span<UInt8>,
        state: inout some MatchState & ~Copyable
    ) -> Bool {
        guard let decoded else {
            let range = segment.range.range
            return self.trie.matchers.all[matcher].matches(bytes, range: range, state: &state)
        }
        let before = state.captureCount
        let whole = 0..<decoded.bytes.count
        guard self.trie.matchers.all[matcher].matches(decoded.bytes.span, range: whole, state: &state) else {
            return false
        }
        for index in before..<state.captureCount {
            state.replace(index, with: decoded.original(state.capture(at: index)))
        }
        return true
    }
}

extension FrozenTrie {
    /// Returns the child to which a segment of an address leads by a literal edge, or `none`.
    @inline(__always)
    func literalChild(
        of parent: UInt32,
        _ segment: ScannedSegment,
        _ bytes: Span<UInt8>,
        isPlain: Bool
    ) -> UInt32 {
        var at = self.trie.edges.start(parent, segment.key)
        while true {
            let slot = self.trie.edges.slots[at]
            if slot.key == segment.key, slot.parent == parent,
                !SegmentKey.isHash(segment.key)
                    || self.equals(slot.child, segment: segment, bytes: bytes, isPlain: isPlain)
            {
                return slot.child
            }
            if slot.child == RouteTrie.none { return RouteTrie.none }
            at = self.trie.edges.next(at)
        }
    }

    private func equals(
        _ child: UInt32,
        segment: ScannedSegment,
        bytes: Span<UInt8>,
        isPlain: Bool
    ) -> Bool {
        let text = self.trie.nodes[Int(child)].text
        guard isPlain else {
            return self.trie.texts.equals(
                text,
                decoding: segment,
                of: bytes,
                folding: self.trie.rules.foldsCase
            )
        }
        return self.trie.texts.equals(text, segment, of: bytes)
    }
}
