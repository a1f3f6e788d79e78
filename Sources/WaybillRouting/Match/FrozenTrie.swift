/// An immutable trie behind one reference, which implements matching.
///
/// Reading a constant of a final class needs neither a copy nor an exclusivity check. To change its trie, a
/// table takes the trie out of this object, releases the object, and stores the trie in a new object. If no
/// other reference to the trie exists, the trie is changed without a copy.
@usableFromInline
final class FrozenTrie: Sendable {
    let trie: RouteTrie

    init(_ trie: RouteTrie) { self.trie = trie }

    /// The trie of a table while the table changes its trie.
    static let empty = FrozenTrie(RouteTrie(rules: .waybill))

    /// Returns the index of a route, or nil if the route was removed.
    @usableFromInline
    func index(of id: RouteID) -> Int? { self.trie.index(of: id).map(Int.init) }
}

extension FrozenTrie {
    /// Returns the best route for a URL, or nil when no route matches.
    @inlinable
    func match(_ text: String) throws(RoutingError) -> RouteMatch? {
        // The runtime copies and destroys an optional of this size. If an inlined function creates the
        // optional, the compiler removes the optional.
        let match = try self.lookUp(text)
        return match.isFound ? match : nil
    }

    @usableFromInline
    func lookUp(_ text: consuming String) throws(RoutingError) -> RouteMatch {
        if !self.trie.paths.isEmpty {
            let found = self.findPath(text)
            if found.leaf != RouteTrie.none {
                return RouteMatch(
                    parameters: Parameters(
                        text: text,
                        layout: found.layout,
                        names: self.trie.leaves[Int(found.leaf)].names,
                        captures: Captures(),
                        route: self.trie.leaves[Int(found.leaf)].route
                    )
                )
            }
        }
        return try self.scanAndSearch(text)
    }

    /// Returns the leaf of a URL whose path equals a pattern without placeholders, and the layout of the URL.
    @inline(never)
    private func findPath(_ text: borrowing String) -> (leaf: UInt32, layout: AddressLayout) {
        let rules = self.trie.rules
        let bytes = text.utf8.span
        guard bytes.count >= ScannedPath.shortest, bytes.count <= rules.urlLength,
            let path = ScannedPath(bytes, self.trie.paths.beginnings)
        else { return (RouteTrie.none, AddressLayout()) }
        let found = self.trie.paths.find(path, of: bytes, self.trie.texts)
        guard !found.isFree else { return (RouteTrie.none, AddressLayout()) }
        var flags = AddressLayout.Flags(rawValue: found.flags)
        var tail = ScannedTail(queryEnd: path.end)
        if path.end < bytes.count {
            tail = ScannedTail(bytes, from: path.end, rules.fragmentByte)
            if tail.queryEnd < bytes.count { flags.insert(.fragment) }
            // The search must validate a query with `%`, and must count the items of a long query.
            guard !tail.hasEscapes, tail.queryEnd &- path.end <= 2 &* rules.queryItemLimit else {
                return (RouteTrie.none, AddressLayout())
            }
        }
        let schemeEnd = Int(found.schemeEnd)
        return (
            found.leaf,
            AddressLayout(
                schemeEnd: schemeEnd,
                pathStart: schemeEnd == 0 ? 0 : schemeEnd &+ 1,
                pathEnd: path.end,
                queryEnd: tail.queryEnd,
                flags: flags
            )
        )
    }

    private func scanAndSearch(_ text: consuming String) throws(RoutingError) -> RouteMatch {
        var scan = InlineScan()
        var state = InlineMatchState()
        let leaf = try self.find(text, scan: &scan, state: &state)
        if leaf == RouteTrie.none { return .none }
        if leaf == Self.needsSlowMatch { return try self.slowMatch(text) }
        return RouteMatch(
            parameters: Parameters(
                text: text,
                layout: scan.layout,
                names: self.trie.leaves[Int(leaf)].names,
                captures: state.firstCaptures(),
                route: self.trie.leaves[Int(leaf)].route
            )
        )
    }

    /// The result of `find` for a URL that `slowMatch` must handle.
    ///
    /// Either the scan or the inline state cannot handle the URL, or the conventions need further checks.
    private static var needsSlowMatch: UInt32 { .max }

    /// Scans a URL and searches for the leaf of its best route.
    @inline(__always)
    private func find(
        _ text: String,
        scan: inout some AddressScan & ~Copyable,
        state: inout some MatchState & ~Copyable
    ) throws(RoutingError) -> UInt32 {
        let rules = self.trie.rules
        let bytes = text.utf8.span
        guard rules.firstMatchIsBest, scan.read(bytes, rules) == nil, !scan.hasOverflowed else {
            return Self.needsSlowMatch
        }
        let root = self.root(bytes, scan.layout)
        guard root != RouteTrie.none else {
            try self.checkScheme(text, scan.layout)
            return RouteTrie.none
        }
        let leaf = self.search(&state, from: root, to: scan.count, bytes: bytes, scan: &scan)
        return state.hasOverflowed ? Self.needsSlowMatch : leaf
    }

    /// Matches URLs that must be decoded as a whole, need heap storage, or need the checks of unusual
    /// conventions.
    ///
    /// `fallsBack` decides whether the route of a prefix of the URL may match; nil follows the conventions.
    @inline(never)
    func slowMatch(
        _ text: consuming String,
        fallsBack: Bool? = nil
    ) throws(RoutingError) -> RouteMatch {
        var scan = HeapScan()
        var state = HeapMatchState()
        let bytes = text.utf8.span
        if let failure = scan.read(bytes, self.trie.rules) {
            let whole = try self.trie.rules.wholeURL(decodedFrom: text, failure)
            return fallsBack == true ? try self.slowMatch(whole, fallsBack: true) : try self.lookUp(whole)
        }
        let root = self.root(bytes, scan.layout)
        guard root != RouteTrie.none else {
            try self.checkScheme(text, scan.layout)
            return .none
        }
        var leaf = self.search(&state, from: root, to: scan.count, bytes: bytes, scan: &scan)
        if leaf == RouteTrie.none, fallsBack ?? self.trie.rules.fallsBack {
            leaf = self.fallBack(&state, from: root, bytes: bytes, scan: &scan)
        }
        if leaf == RouteTrie.none { return .none }
        let found = self.trie.leaves[Int(leaf)]
        var names = found.names
        if self.trie.rules.valuesNeedExactCase, !self.isExactCase(found.index, text) {
            names = ParameterNames(rules: self.trie.rules)
        } else if state.captureCount > Captures.capacity {
            names = names?.with(overflow: Array(state.captures[Captures.capacity...]))
        }
        return RouteMatch(
            parameters: Parameters(
                text: text,
                layout: scan.layout,
                names: names,
                captures: state.firstCaptures(),
                route: found.route
            )
        )
    }

    /// Returns the root node for the scheme of an address.
    func root(_ bytes: Span<UInt8>, _ layout: AddressLayout) -> UInt32 {
        layout.hasDefaultScheme || layout.schemeEnd == 0
            ? self.trie.defaultRoot : self.nonDefaultRoot(bytes, layout.schemeEnd)
    }

    @inline(never)
    private func nonDefaultRoot(_ bytes: Span<UInt8>, _ end: Int) -> UInt32 {
        guard end < 8, self.trie.rules.schemesDifferInCaseOnly else { return self.decodedRoot(bytes, end) }
        // Setting this bit folds letters to lower case, and leaves the other characters of a scheme
        // unchanged.
        let word = ByteWord.prefix(ByteWord.load(bytes, 0) | (ByteWord.ones &* 0x20), end)
        let key = SegmentKey.short(word, end)
        return self.literalChild(of: RouteTrie.top, .init(key: key), bytes, isPlain: true)
    }

    @inline(never)
    private func decodedRoot(_ bytes: Span<UInt8>, _ end: Int) -> UInt32 {
        let scheme = PercentCoding.text(bytes, 0..<end)
        return self.trie.existingRoot(of: self.trie.rules.conventions.folded(scheme: scheme))
            ?? RouteTrie.none
    }

    /// Throws `refused` if the scheme is not registered and the conventions demand that it is.
    @inline(never)
    private func checkScheme(_ text: String, _ layout: AddressLayout) throws(RoutingError) {
        guard self.trie.rules.conventions.schemeMustBeRegistered else { return }
        let scheme = Address(text: text, layout: layout, rules: self.trie.rules).scheme
        guard !self.trie.schemes.contains(scheme) else { return }
        throw RoutingError(
            .refused,
            url: text,
            message: "the scheme `\(scheme.onShortLine)` is not registered; register a pattern with this "
                + "scheme"
        )
    }

    /// Returns whether the route also matches when segments are compared with regard to case.
    @inline(never)
    private func isExactCase(_ route: UInt32, _ text: String) -> Bool {
        var conventions = self.trie.rules.conventions
        conventions.segmentsIgnoreCase = false
        conventions.valuesNeedExactCase = false
        let rules = RoutingRules(
            conventions: conventions,
            defaultScheme: self.trie.rules.defaultScheme,
            limits: self.trie.rules.limits
        )
        var exact = RouteTrie(rules: rules)
        let source = self.trie.texts.string(self.trie.routes[Int(route)].text)
        guard let pattern = try? RoutePattern(source, rules, from: .table),
            (try? exact.insert(pattern, fileID: "", line: 0)) != nil
        else { return true }
        return (try? FrozenTrie(exact).lookUp(text))?.isFound == true
    }

    /// Returns the leaf of the longest registered prefix of an address that matches no pattern.
    @inline(never)
    private func fallBack(
        _ state: inout some MatchState & ~Copyable,
        from root: UInt32,
        bytes: Span<UInt8>,
        scan: inout some AddressScan & ~Copyable
    ) -> UInt32 {
        if !self.trie.rules.backtracks {
            return self.deepestLeaf(&state, from: root, bytes: bytes, scan: &scan)
        }
        for end in (0..<scan.count).reversed() {
            state = .init()
            let leaf = self.search(&state, from: root, to: end, bytes: bytes, scan: &scan)
            if leaf != RouteTrie.none { return leaf }
        }
        return RouteTrie.none
    }

    /// Returns the leaf of the node at which a search without backtracking ends, or `none`.
    private func deepestLeaf(
        _ state: inout some MatchState & ~Copyable,
        from root: UInt32,
        bytes: Span<UInt8>,
        scan: inout some AddressScan & ~Copyable
    ) -> UInt32 {
        state = .init()
        let (end, fallback, _) = self.follow(&state, from: root, bytes: bytes, scan: &scan)
        let leaf = end.index == scan.count ? RouteTrie.none : self.trie.nodes[Int(end.node)].leaf
        guard leaf == RouteTrie.none, let fallback else { return leaf }
        state.truncateCaptures(to: fallback.captures)
        return fallback.leaf
    }

    /// Follows the edges that a search without backtracking tries first, until no edge accepts the next
    /// segment.
    private func follow(
        _ state: inout some MatchState & ~Copyable,
        from root: UInt32,
        bytes: Span<UInt8>,
        scan: inout some AddressScan & ~Copyable
    ) -> (
        end: TriePosition, fallback: (leaf: UInt32, captures: Int)?,
        placeholders: [(node: UInt32, value: URLRange)]
    ) {
        let isPlain = !scan.layout.hasEscapes && !self.trie.rules.foldsCase
        var end = TriePosition(node: root, index: 0)
        // The last leaf before an edge that is neither literal nor a placeholder. A search that fails after
        // this edge returns to the leaf.
        var fallback: (leaf: UInt32, captures: Int)?
        var placeholders: [(node: UInt32, value: URLRange)] = []
        while end.index < scan.count {
            let child = self.literalChild(of: end.node, scan.segment(end.index), bytes, isPlain: isPlain)
            var next = TriePosition(node: child, index: end.index + 1)
            if child == RouteTrie.none {
                let (node, captures) = (self.trie.nodes[Int(end.node)], state.captureCount)
                next = self.nextBranch(
                    ChoicePoint(end, captures),
                    state: &state,
                    end: scan.count,
                    bytes: bytes,
                    scan: &scan,
                    isPlain: isPlain
                )
                if next.node == RouteTrie.none { break }
                if next.node == node.placeholder {
                    placeholders.append((next.node, scan.range(end.index)))
                } else if node.leaf != RouteTrie.none {
                    fallback = (node.leaf, captures)
                }
            }
            end = next
        }
        return (end, fallback, placeholders)
    }

    /// Returns the values of the placeholders that a search without backtracking passes before it fails.
    @inline(never)
    func parametersOnTheWay(_ text: String) -> Parameters? {
        let rules = self.trie.rules
        guard !rules.backtracks else { return nil }
        var scan = HeapScan()
        var state = HeapMatchState()
        let bytes = text.utf8.span
        guard scan.read(bytes, rules) == nil else { return nil }
        let root = self.root(bytes, scan.layout)
        let placeholders = self.follow(&state, from: root, bytes: bytes, scan: &scan).placeholders
        guard !placeholders.isEmpty else { return nil }
        // Only the names of placeholders are known, so drop the captures of other edges.
        state = HeapMatchState()
        var names = ParameterNames.Key()
        for (node, value) in placeholders {
            names.names.append(self.trie.texts.string(self.trie.nodes[Int(node)].text))
            names.areRests.append(false)
            state.capture(value)
        }
        let overflow = Array(state.captures.dropFirst(Captures.capacity))
        return Parameters(
            text: text,
            layout: scan.layout,
            names: ParameterNames(rules: rules, names, overflow: overflow),
            captures: state.firstCaptures(),
            route: 0
        )
    }
}

/// Conventions under which the first leaf is possibly not the best.
///
/// The search then visits all leaves and keeps the best leaf.
extension FrozenTrie {
    @inline(never)
    func consider(_ candidate: UInt32, _ state: inout some MatchState & ~Copyable) {
        if state.collect(candidate) { return }
        if let rival = state.best?.leaf {
            let (new, old) = (self.trie.leaves[Int(candidate)], self.trie.leaves[Int(rival)])
            let isBetter =
                self.trie.rules.conventions.bestMatch == .firstRegistered
                ? new.generation < old.generation : new.literals > old.literals
            guard isBetter else { return }
        }
        var captures: [URLRange] = []
        for index in 0..<state.captureCount { captures.append(state.capture(at: index)) }
        state.best = MatchCandidate(leaf: candidate, captures: captures)
    }

    /// Returns the best leaf that was found, and restores its captures.
    @inline(never)
    func bestLeaf(_ state: inout some MatchState & ~Copyable) -> UInt32 {
        guard let best = state.best else { return RouteTrie.none }
        state.truncateCaptures(to: 0)
        for range in best.captures { state.capture(range) }
        return best.leaf
    }
}
