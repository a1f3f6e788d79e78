extension TableCore {
    /// Reads a URL and finds the best route for it.
    @usableFromInline
    func match(_ text: String) throws(RoutingError) -> RouteMatch? {
        var scan = AddressScan()
        do {
            try scan.read(text.utf8Span.span, self.rules)
        } catch {
            return try self.matchWhole(text, error)
        }
        return try self.match(text, scan)
    }

    /// Finds the best route for an address; one that was read under other rules is read again.
    @usableFromInline
    func match(_ address: Address) throws(RoutingError) -> RouteMatch? { try self.match(address.text) }

    @inline(never)
    private func matchWhole(
        _ text: String,
        _ failure: AddressScan.Failure
    ) throws(RoutingError) -> RouteMatch? {
        guard let whole = self.rules.wholeURL(decodedFrom: text, failure) else {
            throw failure.routingError(text, self.rules.limits)
        }
        return try self.match(whole)
    }

    @inline(__always)
    private func match(_ text: String, _ scan: AddressScan) throws(RoutingError) -> RouteMatch? {
        var walk = Walk()
        let bytes = text.utf8Span.span
        let root = self.root(bytes, scan)
        guard root != Self.none else {
            try self.checkScheme(text, scan)
            return nil
        }
        var leaf = self.walk(&walk, from: root, bytes, scan)
        if leaf == Self.none, self.rules.conventions.fallsBack {
            leaf = self.fallBack(&walk, from: root, bytes, scan)
        }
        guard leaf != Self.none else { return nil }
        let found = self.leaves[Int(leaf)]
        guard let names = found.names else { return nil }
        if self.rules.conventions.valuesNeedExactCase, !self.isExactCase(found.route, text) {
            return RouteMatch(
                route: RouteID(index: found.route, generation: found.generation),
                parameters: Parameters(
                    text: text,
                    layout: scan.layout,
                    names: RouteNames(rules: self.rules),
                    captures: Captures()
                )
            )
        }
        return RouteMatch(
            route: RouteID(index: found.route, generation: found.generation),
            parameters: Parameters(text: text, layout: scan.layout, names: names, captures: walk.captures)
        )
    }

    /// The root of the address's scheme.
    @inline(__always)
    private func root(_ bytes: Span<UInt8>, _ scan: AddressScan) -> UInt32 {
        guard scan.layout.schemeEnd > 0 else { return self.defaultRoot }
        let end = Int(scan.layout.schemeEnd)
        guard end < 8, self.rules.hasSimpleSchemes else { return self.unusualRoot(bytes, end) }
        // What a scheme may be made of stays as it is, or becomes lower case, with this bit set.
        let word = Word.prefix(Word.load(bytes, 0) | (Word.ones &* 0x20), end)
        let key = SegmentKey.short(word, end)
        return self.literalChild(of: Self.top, .init(start: 0, end: 0, key: key), bytes, isPlain: true)
    }

    @inline(never)
    private func unusualRoot(_ bytes: Span<UInt8>, _ end: Int) -> UInt32 {
        let scheme = PercentCoding.text(bytes, 0..<end)
        return self.existingRoot(of: self.rules.conventions.folded(scheme: scheme)) ?? Self.none
    }

    /// Refuses schemes that nobody has registered, where that matters.
    @inline(never)
    private func checkScheme(_ text: String, _ scan: AddressScan) throws(RoutingError) {
        guard self.rules.conventions.schemeMustBeRegistered else { return }
        let scheme = Address(text: text, layout: scan.layout, rules: self.rules).scheme
        guard !self.schemes.contains(scheme) else { return }
        throw RoutingError(.refused, url: text, message: "the scheme `\(scheme)` is not registered")
    }

    /// Whether a route would match as well if case mattered.
    @inline(never)
    private func isExactCase(_ route: UInt32, _ text: String) -> Bool {
        var conventions = self.rules.conventions
        conventions.segmentsIgnoreCase = false
        conventions.valuesNeedExactCase = false
        let rules = AddressRules(
            conventions: conventions,
            defaultScheme: self.rules.defaultScheme,
            limits: self.rules.limits
        )
        var exact = TableCore(rules: rules)
        guard let pattern = try? RoutePattern(self.texts.string(self.routes[Int(route)].text), rules),
            (try? exact.insert(pattern, fileID: "", line: 0)) != nil
        else { return true }
        return (try? exact.match(text)) != nil
    }

    /// The deepest registered place on the way of an address that matches nothing.
    @inline(never)
    private func fallBack(
        _ walk: inout Walk,
        from root: UInt32,
        _ bytes: Span<UInt8>,
        _ scan: AddressScan
    ) -> UInt32 {
        if self.rules.conventions.bestMatch == .literalWithoutBacktracking {
            return self.deepestLeaf(&walk, from: root, bytes, scan)
        }
        var scan = scan
        while scan.count > 0 {
            scan.count -= 1
            walk = Walk()
            let leaf = self.walk(&walk, from: root, bytes, scan)
            if leaf != Self.none { return leaf }
        }
        return Self.none
    }

    /// Where the one way there is without backtracking gets stuck, if a route ends there.
    private func deepestLeaf(
        _ walk: inout Walk,
        from root: UInt32,
        _ bytes: Span<UInt8>,
        _ scan: AddressScan
    ) -> UInt32 {
        walk = Walk()
        let isPlain = !scan.layout.hasEscapes && !self.rules.conventions.segmentsIgnoreCase
        var node = root
        for index in 0..<scan.count {
            var next = self.literalChild(of: node, scan[index], bytes, isPlain: isPlain)
            if next == Self.none {
                next = self.nodes[Int(node)].placeholder
                guard next != Self.none else { return self.nodes[Int(node)].leaf }
                walk.captures.append(TextRange(start: scan[index].start, end: scan[index].end))
            }
            node = next
        }
        return Self.none
    }
}
