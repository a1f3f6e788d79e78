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
        return self.match(text, scan)
    }

    /// Finds the best route for an address.
    @usableFromInline
    func match(_ address: Address) throws(RoutingError) -> RouteMatch? {
        try self.match(address.text)
    }

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
    private func match(_ text: String, _ scan: AddressScan) -> RouteMatch? {
        var walk = Walk()
        let leaf = self.walk(&walk, text.utf8Span.span, scan)
        guard leaf != Self.none else { return nil }
        let found = self.leaves[Int(leaf)]
        guard let names = found.names else { return nil }
        return RouteMatch(
            route: RouteID(index: found.route, generation: found.generation),
            parameters: Parameters(text: text, layout: scan.layout, names: names, captures: walk.captures)
        )
    }
}
