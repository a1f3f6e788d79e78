extension TableCore {
    /// The parent of all schemes' roots.
    static let top = UInt32.max

    func existingRoot(of scheme: String) -> UInt32? {
        let text = Array(scheme.utf8)
        let root = self.literalChild(of: Self.top, key: SegmentKey.of(text), text: text)
        return root == Self.none ? nil : root
    }

    mutating func root(of scheme: String) -> UInt32 {
        if let root = self.existingRoot(of: scheme) { return root }
        let text = Array(scheme.utf8)
        let root = self.newNode(text)
        self.edges.insert(parent: Self.top, key: SegmentKey.of(text), child: root)
        if scheme == self.rules.defaultScheme { self.defaultRoot = root }
        return root
    }

    /// The node for a pattern's segments, if it is there.
    func existingNode(for segments: [PatternSegment], _ scheme: String) -> UInt32? {
        guard var node = self.existingRoot(of: scheme) else { return nil }
        for segment in segments {
            node = self.child(of: node, segment)
            if node == Self.none { return nil }
        }
        return node
    }

    /// The node for a pattern's segments, made where it is not there.
    mutating func node(for segments: [PatternSegment], from root: UInt32) -> UInt32 {
        var parent = root
        for segment in segments {
            let child = self.child(of: parent, segment)
            parent = child == Self.none ? self.newChild(of: parent, segment) : child
        }
        return parent
    }

    /// The node that a segment of a pattern leads to, or none.
    func child(of parent: UInt32, _ segment: PatternSegment) -> UInt32 {
        let node = self.nodes[Int(parent)]
        switch segment {
        case .literal(let text):
            let text = self.folded(text)
            return self.literalChild(of: parent, key: SegmentKey.of(text), text: text)
        case .placeholder: return node.placeholder
        case .any: return node.any
        case .rest: return node.rest
        case .mixed(let pieces):
            guard let number = self.matchers.number(of: self.matcher(pieces).shape) else { return Self.none }
            var edge = node.mixed
            while edge != Self.none, self.mixed[Int(edge)].matcher != number {
                edge = self.mixed[Int(edge)].next
            }
            return self.mixed[Int(edge)].child
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
        case .placeholder:
            child = self.newNode([])
            self.nodes[Int(parent)].placeholder = child
        case .any:
            child = self.newNode([])
            self.nodes[Int(parent)].any = child
        case .rest:
            child = self.newNode([])
            self.nodes[Int(parent)].rest = child
        case .mixed(let pieces):
            child = self.newNode([])
            let number = self.matchers.number(of: self.matcher(pieces))
            self.link(MixedEdge(child: child, matcher: number), to: parent)
        }
        return child
    }

    /// Puts an edge in its place among those of a node, which depends on nothing but what it matches.
    private mutating func link(_ edge: MixedEdge, to parent: UInt32) {
        var edge = edge
        var before = Self.none
        edge.next = self.nodes[Int(parent)].mixed
        let matcher = self.matchers.all[Int(edge.matcher)]
        while edge.next != Self.none,
            !matcher.precedes(self.matchers.all[Int(self.mixed[Int(edge.next)].matcher)])
        {
            before = edge.next
            edge.next = self.mixed[Int(edge.next)].next
        }
        let index: UInt32
        if let free = self.freeEdges.popLast() {
            index = free
            self.mixed[Int(free)] = edge
        } else {
            index = UInt32(self.mixed.count)
            self.mixed.append(edge)
        }
        if before == Self.none {
            self.nodes[Int(parent)].mixed = index
        } else {
            self.mixed[Int(before)].next = index
        }
    }

    private mutating func newNode(_ text: [UInt8]) -> UInt32 {
        var node = Node()
        if text.count >= 8 { node.text = self.texts.add(text) }
        if let free = self.freeNodes.popLast() {
            self.nodes[Int(free)] = node
            return free
        }
        self.nodes.append(node)
        return UInt32(self.nodes.count - 1)
    }
}
