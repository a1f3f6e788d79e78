extension TableCore {
    /// The route that an identifier stands for, unless it is gone.
    func index(of id: RouteID) -> UInt32? {
        guard Int(id.index) < self.routes.count else { return nil }
        let record = self.routes[Int(id.index)]
        return record.pattern != nil && record.generation == id.generation ? id.index : nil
    }

    /// Takes a route and all that leads to it alone out of the trie.
    mutating func remove(at index: UInt32) -> Bool {
        guard let pattern = self.routes[Int(index)].pattern else { return false }
        for variant in pattern.variants { self.removeLeaf(variant, of: index, pattern.scheme) }
        self.routes[Int(index)].pattern = nil
        self.freeRoutes.append(index)
        self.count -= 1
        return true
    }

    private mutating func removeLeaf(_ segments: [PatternSegment], of index: UInt32, _ scheme: String) {
        guard var node = self.existingRoot(of: scheme) else { return }
        var way = [node]
        for segment in segments {
            node = self.child(of: node, segment)
            guard node != Self.none else { return }
            way.append(node)
        }
        let leaf = self.nodes[Int(node)].leaf
        guard leaf != Self.none, self.leaves[Int(leaf)].route == index else { return }
        self.nodes[Int(node)].leaf = Self.none
        self.leaves[Int(leaf)] = Leaf()
        self.freeLeaves.append(leaf)
        while let last = way.popLast(), self.nodes[Int(last)].isEmpty {
            if let parent = way.last {
                self.unlink(last, from: parent, segments[way.count - 1])
            } else {
                self.edges.remove(parent: Self.top, key: SegmentKey.of(scheme.utf8), child: last)
                if scheme == self.rules.defaultScheme { self.defaultRoot = Self.none }
            }
            self.freeNodes.append(last)
        }
    }

    private mutating func unlink(_ child: UInt32, from parent: UInt32, _ segment: PatternSegment) {
        switch segment {
        case .literal(let text):
            self.edges.remove(parent: parent, key: SegmentKey.of(self.folded(text)), child: child)
            self.nodes[Int(parent)].literals -= 1
        case .any: self.nodes[Int(parent)].any = Self.none
        case .rest: self.nodes[Int(parent)].rest = Self.none
        case .placeholder, .mixed: self.nodes[Int(parent)].placeholder = Self.none
        }
    }
}
