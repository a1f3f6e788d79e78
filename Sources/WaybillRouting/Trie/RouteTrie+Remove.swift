extension RouteTrie {
    /// Returns the index of a route, or nil if it was removed.
    func index(of id: RouteID) -> UInt32? {
        guard id.index < self.routes.count else { return nil }
        let generation = self.routes[id.index].generation
        return generation != 0 && generation == id.generation ? UInt32(id.index) : nil
    }

    /// Parses and returns the pattern of a route, or nil if the route was removed.
    ///
    /// The trie does not store parsed patterns, because they would take many times the memory of the trie.
    func pattern(at index: UInt32) -> RoutePattern? {
        let record = self.routes[Int(index)]
        guard record.generation != 0 else { return nil }
        return try? RoutePattern(
            self.texts.string(record.text),
            self.rules,
            from: .table,
            known: self.matchers.expressions
        )
    }

    /// Removes a route, and the nodes and edges that lead to no other route.
    mutating func remove(at index: UInt32) {
        guard let pattern = self.pattern(at: index) else { return }
        self.removePath(pattern, at: index)
        for variant in pattern.variants { self.removeLeaf(variant, of: index, pattern.scheme) }
        self.texts.remove(self.routes[Int(index)].text)
        self.routes[Int(index)] = RouteRecord()
        self.freeRoutes.append(index)
        self.count -= 1
        if self.hasGarbage { self.rebuild(by: self.rules) }
    }

    /// Whether more than half of the texts, or of the names and matchers, belong to removed routes.
    private var hasGarbage: Bool {
        if self.texts.garbage > 4_096, self.texts.garbage > self.texts.bytes.count / 2 { return true }
        // The pools do not count which names and matchers are in use. Compare their number with the number
        // after the last rebuild, which keeps only the names and matchers in use.
        return self.pooled > 256 + 2 * self.pooledByRebuild
    }

    private var pooled: Int { self.names.count + self.matchers.all.count }

    /// Rebuilds the trie from its routes, under the given rules.
    ///
    /// The rebuild releases the texts, names and matchers of removed routes. The routes keep their IDs and
    /// their schemes.
    mutating func rebuild(by rules: RoutingRules) {
        var fresh = RouteTrie(rules: rules)
        fresh.routes = self.routes
        fresh.freeRoutes = self.freeRoutes
        fresh.files = self.files
        fresh.schemes.formUnion(self.schemes)
        fresh.generation = self.generation
        fresh.count = self.count
        for index in self.routes.indices {
            guard var pattern = self.pattern(at: UInt32(index)) else { continue }
            if rules !== self.rules { pattern = pattern.read(by: rules) }
            fresh.routes[index].text = fresh.texts.add(pattern.text.utf8)
            fresh.insertVariants(pattern, at: UInt32(index), fresh.routes[index].generation)
        }
        fresh.pooledByRebuild = fresh.pooled
        self = fresh
    }

    private mutating func removeLeaf(_ segments: [PatternSegment], of index: UInt32, _ scheme: String) {
        guard let root = self.existingRoot(of: scheme) else { return }
        var path = [root]
        for segment in segments {
            let child = self.child(of: path[path.count - 1], segment)
            guard child != Self.none else { return }
            path.append(child)
        }
        let node = Int(path[path.count - 1])
        let leaf = self.nodes[node].leaf
        guard leaf != Self.none, self.leaves[Int(leaf)].index == index else { return }
        self.nodes[node].leaf = Self.none
        self.leaves[Int(leaf)] = self.leaves[0]
        self.freeLeaves.append(leaf)
        while let last = path.popLast() {
            let node = self.nodes[Int(last)]
            guard node.leaf == Self.none, !node.hasChildren else { return }
            self.texts.remove(node.text)
            if let parent = path.last {
                self.unlink(last, from: parent, segments[path.count - 1])
            } else {
                self.edges.remove(parent: Self.top, key: SegmentKey.of(scheme.utf8), child: last)
                if last == self.defaultRoot { self.defaultRoot = Self.none }
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
        case .placeholder: self.nodes[Int(parent)].placeholder = Self.none
        case .compound: self.unlinkCompound(child, from: parent)
        }
    }

    private mutating func unlinkCompound(_ child: UInt32, from parent: UInt32) {
        var before = Self.none
        var edge = self.nodes[Int(parent)].compound
        while edge != Self.none, self.compoundEdges[Int(edge)].child != child {
            before = edge
            edge = self.compoundEdges[Int(edge)].next
        }
        guard edge != Self.none else { return }
        let next = self.compoundEdges[Int(edge)].next
        if before == Self.none {
            self.nodes[Int(parent)].compound = next
        } else {
            self.compoundEdges[Int(before)].next = next
        }
        self.compoundEdges[Int(edge)] = CompoundEdge()
        self.freeEdges.append(edge)
    }
}
