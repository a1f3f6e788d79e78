extension RouteTrie {
    /// Adds a pattern.
    ///
    /// Two patterns have the same shape if they match some of the same URLs and neither of them is more
    /// specific. If the conventions replace routes, the new pattern replaces an existing pattern of the same
    /// shape.
    ///
    /// - Throws: `conflict` with the name of the existing pattern; `invalidPattern` if the table is full.
    mutating func insert(
        _ pattern: RoutePattern,
        fileID: String,
        line: Int
    ) throws(RoutingError) -> (id: RouteID, replaced: [UInt32]) {
        // The record of the route contains only the text of the pattern. This text must have the same meaning
        // under the rules of the trie.
        let hasOtherScheme = pattern.rules.defaultScheme != self.rules.defaultScheme
        let pattern = hasOtherScheme ? pattern.read(by: self.rules) : pattern
        let rivals = self.rivals(of: pattern)
        if let rival = rivals.first, self.rules.conventions.sameShape != .replaces {
            throw self.conflict(pattern, with: rival, fileID: fileID, line: line)
        }
        for rival in rivals { self.remove(at: rival) }
        guard self.count < self.rules.limits.routes else {
            throw RoutingError(
                .invalidPattern,
                url: pattern.text,
                message: "the table already has \(self.count) routes: raise the limit `routes` to add more"
            )
        }
        guard self.generation < .max else {
            throw RoutingError(
                .invalidPattern,
                url: pattern.text,
                message: "the table has had \(self.generation) registrations, which is the maximum: "
                    + "create a new table"
            )
        }
        self.generation += 1
        self.count += 1
        let record = RouteRecord(
            generation: self.generation,
            line: UInt32(clamping: line),
            file: self.files.number(of: fileID),
            text: self.texts.add(pattern.text.utf8)
        )
        let index: UInt32
        if let free = self.freeRoutes.popLast() {
            index = free
            self.routes[Int(free)] = record
        } else {
            index = UInt32(self.routes.count)
            self.routes.append(record)
        }
        self.insertVariants(pattern, at: index, record.generation)
        return (RouteID(index: index, generation: record.generation), rivals)
    }

    /// Inserts the segment sequences of a pattern into the trie.
    mutating func insertVariants(_ pattern: RoutePattern, at index: UInt32, _ generation: UInt32) {
        for variant in pattern.variants {
            let node = Int(self.node(for: variant, from: self.root(of: pattern.scheme)))
            // Two expansions of optional groups may have the same shape. Keep only the first of these
            // expansions.
            guard self.nodes[node].leaf == Self.none else { continue }
            let literals = UInt32(variant.count { $0.isLiteral })
            self.nodes[node].leaf = self.newLeaf(
                Leaf(
                    route: RouteID(index: index, generation: generation).bits,
                    literals: literals,
                    names: self.names(of: variant)
                )
            )
        }
        self.insertPath(pattern, at: index)
    }

    /// Returns the indices of the routes whose patterns have the same shape as the given pattern.
    func rivals(of pattern: RoutePattern) -> [UInt32] {
        var rivals: [UInt32] = []
        for variant in pattern.variants {
            guard let node = self.existingNode(for: variant, pattern.scheme) else { continue }
            let leaf = self.nodes[Int(node)].leaf
            guard leaf != Self.none else { continue }
            let rival = self.leaves[Int(leaf)].index
            if !rivals.contains(rival) { rivals.append(rival) }
        }
        return rivals
    }

    private func conflict(
        _ pattern: RoutePattern,
        with index: UInt32,
        fileID: String,
        line: Int
    ) -> RoutingError {
        let rival = self.routes[Int(index)]
        let rivalFile = self.files.names[Int(rival.file)]
        // The name of the file is empty for a pattern that a program in C registers.
        let place = fileID.isEmpty ? "" : "registered at \(fileID):\(line), "
        let rivalPlace = rivalFile.isEmpty ? "" : ", registered at \(rivalFile):\(rival.line)"
        return RoutingError(
            .conflict,
            url: pattern.text,
            message: "\(place)the pattern matches the same addresses as "
                + "\(self.texts.string(rival.text))\(rivalPlace): change or remove one of them"
        )
    }

    private mutating func newLeaf(_ leaf: Leaf) -> UInt32 {
        if let free = self.freeLeaves.popLast() {
            self.leaves[Int(free)] = leaf
            return free
        }
        self.leaves.append(leaf)
        return UInt32(self.leaves.count - 1)
    }

    private mutating func names(of variant: [PatternSegment]) -> ParameterNames? {
        let key = ParameterNames.Key(of: variant)
        if key.names.isEmpty, self.rules === RoutingRules.waybill { return nil }
        if let names = self.names[key] { return names }
        let names = ParameterNames(rules: self.rules, key)
        self.names[key] = names
        return names
    }
}

extension RouteTrie {
    /// The parent of the root nodes, of which each scheme has one.
    static let top = UInt32.max

    func existingRoot(of scheme: String) -> UInt32? {
        if scheme == self.rules.defaultScheme {
            return self.defaultRoot == Self.none ? nil : self.defaultRoot
        }
        let text = Array(scheme.utf8)
        let root = self.literalChild(of: Self.top, key: SegmentKey.of(text), text: text)
        return root == Self.none ? nil : root
    }

    mutating func root(of scheme: String) -> UInt32 {
        if let root = self.existingRoot(of: scheme) { return root }
        let text = Array(scheme.utf8)
        let root = self.newNode(text)
        self.schemes.insert(scheme)
        self.edges.insert(parent: Self.top, key: SegmentKey.of(text), child: root)
        if scheme == self.rules.defaultScheme { self.defaultRoot = root }
        return root
    }

    /// Returns the node at the end of a pattern's segments, or nil when the trie does not have this node.
    func existingNode(for segments: [PatternSegment], _ scheme: String) -> UInt32? {
        guard var node = self.existingRoot(of: scheme) else { return nil }
        for segment in segments {
            node = self.child(of: node, segment)
            if node == Self.none { return nil }
        }
        return node
    }

    /// Returns the node at the end of a pattern's segments, and creates missing nodes.
    mutating func node(for segments: [PatternSegment], from root: UInt32) -> UInt32 {
        var parent = root
        for segment in segments {
            let child = self.child(of: parent, segment)
            parent = child == Self.none ? self.newChild(of: parent, segment) : child
        }
        return parent
    }

    /// Returns the child for a segment of a pattern, or `none` when the node has no such child.
    func child(of parent: UInt32, _ segment: PatternSegment) -> UInt32 {
        let node = self.nodes[Int(parent)]
        switch segment {
        case .literal(let text):
            let text = self.folded(text)
            return self.literalChild(of: parent, key: SegmentKey.of(text), text: text)
        case .placeholder: return node.placeholder
        case .any: return node.any
        case .rest: return node.rest
        case .compound(let pieces):
            guard let number = self.matchers.number(of: self.matcher(pieces).shape) else { return Self.none }
            var edge = node.compound
            while edge != Self.none, self.compoundEdges[Int(edge)].matcher != number {
                edge = self.compoundEdges[Int(edge)].next
            }
            return self.compoundEdges[Int(edge)].child
        }
    }

    func folded(_ text: [UInt8]) -> [UInt8] {
        self.rules.conventions.segmentsIgnoreCase ? text.map(ASCII.lowercased) : text
    }

    private func matcher(_ pieces: [PatternPiece]) -> SegmentMatcher {
        SegmentMatcher(pieces, folding: self.rules.conventions.segmentsIgnoreCase)
    }

    private mutating func newChild(of parent: UInt32, _ segment: PatternSegment) -> UInt32 {
        let child: UInt32
        switch segment {
        case .literal(let text):
            let text = self.folded(text)
            child = self.newNode(text)
            self.edges.insert(parent: parent, key: SegmentKey.of(text), child: child)
            self.nodes[Int(parent)].literals += 1
        case .placeholder(let name):
            child = self.newNode([])
            // A search without backtracking may end at this node. The search then reports its captures by
            // name.
            if !self.rules.backtracks { self.nodes[Int(child)].text = self.texts.add(name.utf8) }
            self.nodes[Int(parent)].placeholder = child
        case .any:
            child = self.newNode([])
            self.nodes[Int(parent)].any = child
        case .rest:
            child = self.newNode([])
            self.nodes[Int(parent)].rest = child
        case .compound(let pieces):
            child = self.newNode([])
            let number = self.matchers.number(of: self.matcher(pieces), pieces)
            self.link(CompoundEdge(child: child, matcher: number), to: parent)
        }
        return child
    }

    /// Inserts a compound edge into the list of the parent node.
    ///
    /// The order of the list depends only on the segments, and not on the order of their insertion.
    private mutating func link(_ edge: CompoundEdge, to parent: UInt32) {
        var edge = edge
        var before = Self.none
        edge.next = self.nodes[Int(parent)].compound
        let matcher = self.matchers.all[Int(edge.matcher)]
        while edge.next != Self.none,
            !matcher.precedes(self.matchers.all[Int(self.compoundEdges[Int(edge.next)].matcher)])
        {
            before = edge.next
            edge.next = self.compoundEdges[Int(edge.next)].next
        }
        let index: UInt32
        if let free = self.freeEdges.popLast() {
            index = free
            self.compoundEdges[Int(free)] = edge
        } else {
            index = UInt32(self.compoundEdges.count)
            self.compoundEdges.append(edge)
        }
        if before == Self.none {
            self.nodes[Int(parent)].compound = index
        } else {
            self.compoundEdges[Int(before)].next = index
        }
    }

    private mutating func newNode(_ text: [UInt8]) -> UInt32 {
        var node = Node()
        if text.count >= 8 { node.text = self.texts.add(text) }
        if let free = self.freeNodes.popLast() {
            self.nodes[Int(free)] = node
            return free
        }
        self.nodes.growByQuarter(for: 1)
        self.nodes.append(node)
        return UInt32(self.nodes.count - 1)
    }
}

extension RouteTrie {
    /// Returns the child for a literal segment of a pattern, or `none` when the node has no such child.
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
