// To publish a message, the bus needs every matching route, and not only the best route.
extension FrozenTrie {
    /// Returns every route that matches a URL, each once and in no particular order.
    func matchAll(_ text: consuming String) throws(RoutingError) -> [RouteMatch] {
        var scan = InlineScan()
        let bytes = text.utf8.span
        if scan.read(bytes, self.trie.rules) == nil, !scan.hasOverflowed {
            var state = CollectingMatchState<InlineMatchState>()
            self.collect(&state, bytes: bytes, scan: &scan)
            if !state.hasOverflowed { return self.matches(state.found, text: text, layout: scan.layout) }
        }
        return try self.slowMatchAll(text)
    }

    /// Returns the matches for URLs that must be decoded as a whole or that exceed the inline state.
    @inline(never)
    private func slowMatchAll(_ text: consuming String) throws(RoutingError) -> [RouteMatch] {
        var scan = HeapScan()
        let bytes = text.utf8.span
        if let failure = scan.read(bytes, self.trie.rules) {
            let whole = try self.trie.rules.wholeURL(decodedFrom: text, failure)
            return try self.matchAll(whole)
        }
        var state = CollectingMatchState<HeapMatchState>()
        self.collect(&state, bytes: bytes, scan: &scan)
        return self.matches(state.found, text: text, layout: scan.layout)
    }

    private func collect(
        _ state: inout some MatchState & ~Copyable,
        bytes: Span<UInt8>,
        scan: inout some AddressScan & ~Copyable
    ) {
        let root = self.root(bytes, scan.layout)
        guard root != RouteTrie.none else { return }
        _ = self.search(&state, from: root, to: scan.count, bytes: bytes, scan: &scan)
    }

    private func matches<State>(
        _ found: [CollectingMatchState<State>.Found],
        text: String,
        layout: AddressLayout
    ) -> [RouteMatch] where State: ~Copyable {
        let matches = found.map { found in
            let leaf = self.trie.leaves[Int(found.leaf)]
            let names = found.overflow.isEmpty ? leaf.names : leaf.names?.with(overflow: found.overflow)
            return RouteMatch(
                parameters: Parameters(
                    text: text,
                    layout: layout,
                    names: names,
                    captures: found.captures,
                    route: leaf.route
                )
            )
        }
        // Only optional groups give a table more leaves than routes. A leaf is the end of one segment
        // sequence of a route.
        guard matches.count > 1, self.trie.leaves.count - self.trie.freeLeaves.count - 1 > self.trie.count
        else { return matches }
        return self.bestPerRoute(matches, found.map { self.trie.leaves[Int($0.leaf)].literals })
    }

    /// Keeps the better match of each route that the search reached through several leaves.
    private func bestPerRoute(_ matches: [RouteMatch], _ literals: [UInt32]) -> [RouteMatch] {
        let wantsLiterals =
            !self.trie.rules.stopsAtFirst && self.trie.rules.conventions.bestMatch != .firstRegistered
        var best: [UInt64: Int] = [:]
        for (index, match) in matches.enumerated() {
            let route = match.parameters.route
            guard let rival = best[route] else {
                best[route] = index
                continue
            }
            if wantsLiterals, literals[index] > literals[rival] { best[route] = index }
        }
        return best.values.sorted().map { matches[$0] }
    }
}

/// A match state for a search that visits and collects every leaf.
struct CollectingMatchState<State: MatchState & ~Copyable>: MatchState, ~Copyable {
    /// A leaf and its captures.
    struct Found {
        let leaf: UInt32
        let captures: Captures
        /// The captures after the first eight.
        let overflow: [URLRange]
    }

    private var base = State()
    private(set) var found: [Found] = []
    /// The leaves found so far, which are recorded when a leaf can be reached twice.
    private var leaves: Set<UInt32> = []
    private var tracksVisits = false

    static var collectsAll: Bool { true }

    mutating func collect(_ leaf: UInt32) -> Bool {
        // The captures of the first visit to a leaf are the best captures, so ignore later visits.
        if self.tracksVisits, !self.leaves.insert(leaf).inserted { return true }
        var overflow: [URLRange] = []
        var index = Captures.capacity
        while index < self.captureCount {
            overflow.append(self.base.capture(at: index))
            index += 1
        }
        self.found.append(Found(leaf: leaf, captures: self.base.firstCaptures(), overflow: overflow))
        return true
    }

    /// The best leaf, which is always nil, because every leaf is collected.
    var best: MatchCandidate? {
        get { nil }
        set {}
    }

    var captureCount: Int { self.base.captureCount }
    var hasOverflowed: Bool { self.base.hasOverflowed }

    mutating func push(_ choice: ChoicePoint) { self.base.push(choice) }

    mutating func pop() -> ChoicePoint? { self.base.pop() }

    mutating func trackVisits() {
        self.base.trackVisits()
        guard !self.tracksVisits else { return }
        self.tracksVisits = true
        self.leaves = Set(self.found.map(\.leaf))
    }

    mutating func markVisited(_ position: TriePosition) -> Bool { self.base.markVisited(position) }

    mutating func capture(_ range: URLRange) { self.base.capture(range) }

    mutating func capture(at index: Int) -> URLRange { self.base.capture(at: index) }

    mutating func replace(_ index: Int, with range: URLRange) { self.base.replace(index, with: range) }

    mutating func truncateCaptures(to count: Int) { self.base.truncateCaptures(to: count) }

    mutating func firstCaptures() -> Captures { self.base.firstCaptures() }
}
