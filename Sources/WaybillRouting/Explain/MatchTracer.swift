/// Repeats a search step by step and describes each step.
struct MatchTracer: ~Copyable {
    /// The maximum number of lines and of steps, because a hostile table could otherwise cause any number of
    /// them.
    static let limit = 200

    let frozen: FrozenTrie
    let bytes: [UInt8]
    var scan: HeapScan
    private(set) var lines: [String] = []
    /// The number of segments of the longest partial match.
    private(set) var depth = 0
    private var steps = 0

    init(_ frozen: FrozenTrie, address: Address, scan: consuming HeapScan) {
        self.frozen = frozen
        self.bytes = Array(address.text.utf8)
        self.scan = scan
    }

    mutating func trace(_ scheme: String) {
        guard let root = self.frozen.trie.existingRoot(of: scheme) else {
            self.append(0, "no pattern has the scheme `\(scheme)`")
            return
        }
        self.append(0, "scheme `\(scheme)`")
        _ = self.visit(root, 0)
    }

    private mutating func append(_ depth: Int, _ line: String) {
        if self.lines.count < Self.limit {
            self.lines.append(String(repeating: "  ", count: min(depth, 32)) + line)
        }
    }

    private mutating func text(_ index: Int) -> String {
        let range = self.scan.range(index).range
        return PercentCoding.text(self.bytes.span, range)
    }

    /// Visits a node of the trie with the segments from `index` on, and returns true when a route matches.
    private mutating func visit(_ number: UInt32, _ index: Int) -> Bool {
        self.steps += 1
        self.depth = max(self.depth, index)
        let node = self.frozen.trie.nodes[Int(number)]
        if index == self.scan.count {
            guard node.leaf != RouteTrie.none else {
                self.append(index + 1, "the URL ends here, but no pattern ends here")
                return false
            }
            let record = self.frozen.trie.routes[Int(self.frozen.trie.leaves[Int(node.leaf)].index)]
            self.append(index + 1, "matches \(self.frozen.trie.texts.string(record.text))")
            return true
        }
        guard self.steps < Self.limit, index < 256 else { return false }
        return self.visitLiteral(number, node: node, index: index) || self.visitNonLiterals(node, index)
    }

    private mutating func visitLiteral(_ number: UInt32, node: RouteTrie.Node, index: Int) -> Bool {
        guard node.literals > 0 else { return false }
        let segment = self.scan.segment(index)
        let child = self.frozen.literalChild(of: number, segment, self.bytes.span, isPlain: false)
        if child != RouteTrie.none {
            self.append(index + 1, "`\(self.text(index))` matches a literal")
            return self.visit(child, index + 1)
        }
        let kind = node.hasNonLiteralEdges ? "" : ", and the patterns have no other segment here"
        self.append(index + 1, "`\(self.text(index))` is none of \(node.literals) literals\(kind)")
        return false
    }

    private mutating func visitNonLiterals(_ node: RouteTrie.Node, _ index: Int) -> Bool {
        let text = self.text(index)
        var edge = node.compound
        while edge != RouteTrie.none {
            let current = self.frozen.trie.compoundEdges[Int(edge)]
            let matcher = self.frozen.trie.matchers.all[Int(current.matcher)]
            var state = HeapMatchState()
            let value = self.frozen.trie.folded(Array(text.utf8))
            let fits = matcher.matches(value.span, range: 0..<value.count, state: &state)
            self.append(index + 1, "`\(text)` \(fits ? "fits" : "does not fit") \(matcher.shape)")
            if fits, self.visit(current.child, index + 1) { return true }
            edge = current.next
        }
        if node.placeholder != RouteTrie.none {
            self.append(index + 1, "`\(text)` matches a placeholder")
            if self.visit(node.placeholder, index + 1) { return true }
        }
        if node.any != RouteTrie.none {
            self.append(index + 1, "`\(text)` matches *")
            if self.visit(node.any, index + 1) { return true }
        }
        guard node.rest != RouteTrie.none else { return false }
        for end in index..<self.scan.count {
            self.append(index + 1, "a catch-all segment matches \(end - index + 1) segments from `\(text)`")
            if self.visit(node.rest, end + 1) { return true }
        }
        return false
    }
}
