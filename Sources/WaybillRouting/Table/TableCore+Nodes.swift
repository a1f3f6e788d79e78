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
        case .mixed: return Self.none
        }
    }

    /// The node for a pattern's segments, made where it is not there.
    mutating func node(for segments: [PatternSegment], from root: UInt32) -> UInt32 {
        var parent = root
        for segment in segments {
            var child = self.child(of: parent, segment)
            if child == Self.none {
                child = self.newChild(of: parent, segment)
            }
            parent = child
        }
        return parent
    }

    private mutating func newChild(of parent: UInt32, _ segment: PatternSegment) -> UInt32 {
        guard case .literal(let text) = segment else {
            let child = self.newNode([])
            switch segment {
            case .any: self.nodes[Int(parent)].any = child
            case .rest: self.nodes[Int(parent)].rest = child
            default: self.nodes[Int(parent)].placeholder = child
            }
            return child
        }
        let folded = self.folded(text)
        let child = self.newNode(folded)
        self.edges.insert(parent: parent, key: SegmentKey.of(folded), child: child)
        self.nodes[Int(parent)].literals += 1
        return child
    }

    func folded(_ text: [UInt8]) -> [UInt8] {
        self.rules.conventions.segmentsIgnoreCase ? text.map(ASCII.lowercased) : text
    }

    private mutating func newNode(_ text: [UInt8]) -> UInt32 {
        var node = Node()
        if text.count >= 8 {
            node.textStart = UInt32(self.bytes.count)
            node.textLength = UInt32(text.count)
            self.bytes += text
        }
        if let free = self.freeNodes.popLast() {
            self.nodes[Int(free)] = node
            return free
        }
        self.nodes.append(node)
        return UInt32(self.nodes.count - 1)
    }
}
