extension TableBox {
    /// Reads a URL and finds the best route for it.
    @inlinable
    func match(_ text: String) throws(RoutingError) -> RouteMatch? {
        // An optional as large as a match is copied and destroyed by the runtime, so it is made where it can vanish.
        let match = try self.lookUp(text)
        return match.isFound ? match : nil
    }

    @usableFromInline
    func lookUp(_ text: consuming String) throws(RoutingError) -> RouteMatch {
        var scan = SmallScan()
        var walk = SmallWalk()
        let leaf = try self.find(text, &scan, &walk)
        if leaf == TableCore.none { return .none }
        if leaf == Self.unusual { return try self.unusualMatch(text) }
        return RouteMatch(
            parameters: Parameters(
                text: text,
                layout: scan.layout,
                names: self.core.leaves[Int(leaf)].names,
                captures: walk.firstCaptures(),
                route: self.core.leaves[Int(leaf)].route
            )
        )
    }

    /// What stands for a leaf when there is more to it: the text is no URL as it is, or is too much for a small walk.
    private static var unusual: UInt32 { .max }

    /// Reads a URL and finds the leaf of the best route.
    @inline(__always)
    private func find(
        _ text: String,
        _ scan: inout some AddressScan & ~Copyable,
        _ walk: inout some Walk & ~Copyable
    ) throws(RoutingError) -> UInt32 {
        let rules = self.core.rules
        let bytes = text.utf8.span
        guard rules.takesFirst, scan.read(bytes, rules) == nil, !scan.isFull else { return Self.unusual }
        let root = self.root(bytes, scan.layout)
        guard root != TableCore.none else {
            if rules.conventions.schemeMustBeRegistered { try self.checkScheme(text, scan.layout) }
            return TableCore.none
        }
        let leaf = self.walk(&walk, from: root, to: scan.count, bytes, &scan)
        return walk.isFull ? Self.unusual : leaf
    }

    /// Matches what is not a URL as it is, has much to remember, or has conventions that need a second look.
    @inline(never)
    private func unusualMatch(_ text: consuming String) throws(RoutingError) -> RouteMatch {
        var scan = LargeScan()
        var walk = LargeWalk()
        let bytes = text.utf8.span
        if let failure = scan.read(bytes, self.core.rules) {
            guard let whole = self.core.rules.wholeURL(decodedFrom: text, failure) else {
                throw failure.routingError(text, self.core.rules.limits)
            }
            return try self.lookUp(whole)
        }
        let root = self.root(bytes, scan.layout)
        if root == TableCore.none { return .none }
        var leaf = self.walk(&walk, from: root, to: scan.count, bytes, &scan)
        if leaf == TableCore.none, self.core.rules.fallsBack {
            leaf = self.fallBack(&walk, from: root, bytes, &scan)
        }
        if leaf == TableCore.none { return .none }
        let found = self.core.leaves[Int(leaf)]
        var names = found.names
        if self.core.rules.valuesNeedExactCase, !self.isExactCase(found.index, text) {
            names = RouteNames(rules: self.core.rules)
        } else if walk.captured > Captures.capacity {
            names = names?.with(overflow: Array(walk.captures[Captures.capacity...]))
        }
        return RouteMatch(
            parameters: Parameters(
                text: text,
                layout: scan.layout,
                names: names,
                captures: walk.firstCaptures(),
                route: found.route
            )
        )
    }

    /// The root of the address's scheme.
    @inline(__always)
    func root(_ bytes: Span<UInt8>, _ layout: AddressLayout) -> UInt32 {
        layout.hasDefaultScheme || layout.schemeEnd == 0
            ? self.core.defaultRoot : self.otherRoot(bytes, layout.schemeEnd)
    }

    @inline(never)
    private func otherRoot(_ bytes: Span<UInt8>, _ end: Int) -> UInt32 {
        guard end < 8, self.core.rules.hasSimpleSchemes else { return self.unusualRoot(bytes, end) }
        // What a scheme may be made of stays as it is, or becomes lower case, with this bit set.
        let word = Word.prefix(Word.load(bytes, 0) | (Word.ones &* 0x20), end)
        let key = SegmentKey.short(word, end)
        return self.literalChild(of: TableCore.top, .init(key: key), bytes, isPlain: true)
    }

    @inline(never)
    private func unusualRoot(_ bytes: Span<UInt8>, _ end: Int) -> UInt32 {
        let scheme = PercentCoding.text(bytes, 0..<end)
        return self.core.existingRoot(of: self.core.rules.conventions.folded(scheme: scheme))
            ?? TableCore.none
    }

    /// Refuses schemes that nobody has registered, where that matters.
    @inline(never)
    private func checkScheme(_ text: String, _ layout: AddressLayout) throws(RoutingError) {
        let scheme = Address(text: text, layout: layout, rules: self.core.rules).scheme
        guard !self.core.schemes.contains(scheme) else { return }
        throw RoutingError(
            .refused,
            url: text,
            message: "the scheme `\(scheme.onShortLine)` is not registered"
        )
    }

    /// Whether a route would match as well if case mattered.
    @inline(never)
    private func isExactCase(_ route: UInt32, _ text: String) -> Bool {
        var conventions = self.core.rules.conventions
        conventions.segmentsIgnoreCase = false
        conventions.valuesNeedExactCase = false
        let rules = AddressRules(
            conventions: conventions,
            defaultScheme: self.core.rules.defaultScheme,
            limits: self.core.rules.limits
        )
        var exact = TableCore(rules: rules)
        guard
            let pattern = try? RoutePattern(self.core.texts.string(self.core.routes[Int(route)].text), rules),
            (try? exact.insert(pattern, fileID: "", line: 0)) != nil
        else { return true }
        return (try? TableBox(exact).lookUp(text))?.isFound == true
    }

    /// The deepest registered place on the way of an address that matches nothing.
    @inline(never)
    private func fallBack(
        _ walk: inout some Walk & ~Copyable,
        from root: UInt32,
        _ bytes: Span<UInt8>,
        _ scan: inout some AddressScan & ~Copyable
    ) -> UInt32 {
        if !self.core.rules.backtracks {
            return self.deepestLeaf(&walk, from: root, bytes, &scan)
        }
        for end in (0..<scan.count).reversed() {
            walk = .init()
            let leaf = self.walk(&walk, from: root, to: end, bytes, &scan)
            if leaf != TableCore.none { return leaf }
        }
        return TableCore.none
    }

    /// Where the one way there is without backtracking gets stuck, if a route ends there.
    private func deepestLeaf(
        _ walk: inout some Walk & ~Copyable,
        from root: UInt32,
        _ bytes: Span<UInt8>,
        _ scan: inout some AddressScan & ~Copyable
    ) -> UInt32 {
        walk = .init()
        let isPlain = !scan.layout.hasEscapes && !self.core.rules.conventions.segmentsIgnoreCase
        var node = root
        for index in 0..<scan.count {
            var next = self.literalChild(of: node, scan.segment(index), bytes, isPlain: isPlain)
            if next == TableCore.none {
                next = self.core.nodes[Int(node)].placeholder
                guard next != TableCore.none else { return self.core.nodes[Int(node)].leaf }
                walk.capture(scan.range(index))
            }
            node = next
        }
        return TableCore.none
    }
}
