// Whoever publishes wants every route that matches, and not the best.
extension TableBox {
    /// Finds every route for a URL, each once, in no order.
    func matchAll(_ text: consuming String) throws(RoutingError) -> [RouteMatch] {
        var scan = SmallScan()
        let bytes = text.utf8.span
        if scan.read(bytes, self.core.rules) == nil, !scan.isFull {
            var walk = CollectingWalk<SmallWalk>()
            self.collect(&walk, bytes, &scan)
            if !walk.isFull { return self.matches(walk.found, text, scan.layout) }
        }
        return try self.unusualMatches(text)
    }

    /// Finds every route for what is not a URL as it is, or is too much for a small walk.
    @inline(never)
    private func unusualMatches(_ text: consuming String) throws(RoutingError) -> [RouteMatch] {
        var scan = LargeScan()
        let bytes = text.utf8.span
        if let failure = scan.read(bytes, self.core.rules) {
            guard let whole = self.core.rules.wholeURL(decodedFrom: text, failure) else {
                throw failure.routingError(text, self.core.rules.limits)
            }
            return try self.matchAll(whole)
        }
        var walk = CollectingWalk<LargeWalk>()
        self.collect(&walk, bytes, &scan)
        return self.matches(walk.found, text, scan.layout)
    }

    private func collect(
        _ walk: inout some Walk & ~Copyable,
        _ bytes: Span<UInt8>,
        _ scan: inout some AddressScan & ~Copyable
    ) {
        let root = self.root(bytes, scan.layout)
        guard root != TableCore.none else { return }
        _ = self.walk(&walk, from: root, to: scan.count, bytes, &scan)
    }

    private func matches<Memory>(
        _ found: [CollectingWalk<Memory>.Found],
        _ text: String,
        _ layout: AddressLayout
    ) -> [RouteMatch] where Memory: ~Copyable {
        let matches = found.map { found in
            let leaf = self.core.leaves[Int(found.leaf)]
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
        // Only where a route has optional groups are there more ways than routes.
        guard matches.count > 1, self.core.leaves.count - self.core.freeLeaves.count - 1 > self.core.count
        else { return matches }
        return self.once(matches, found.map { self.core.leaves[Int($0.leaf)].literals })
    }

    /// The better of two ways to match one route, where several do.
    private func once(_ matches: [RouteMatch], _ literals: [UInt32]) -> [RouteMatch] {
        let wantsLiterals =
            !self.core.rules.stopsAtFirst && self.core.rules.conventions.bestMatch != .firstRegistered
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
