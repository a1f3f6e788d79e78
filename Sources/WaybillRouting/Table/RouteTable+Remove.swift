extension RouteTable {
    /// Takes a route away and returns its handler, or nil when it is not there any more.
    @discardableResult
    public mutating func remove(_ id: RouteID) -> Handler? {
        guard let index = self.core.index(of: id) else { return nil }
        self.mutate { $0.remove(at: index) }
        return self.handlers[Int(index)].take()
    }

    /// Takes the route of a pattern away; one that only looks alike, with other names, stays.
    @discardableResult
    public mutating func remove(_ pattern: String) -> Handler? {
        guard let pattern = try? RoutePattern(pattern, self.core.rules),
            let index = self.core.rival(of: pattern), self.core.pattern(at: index) == pattern
        else { return nil }
        self.mutate { $0.remove(at: index) }
        return self.handlers[Int(index)].take()
    }

    /// Takes away the routes that a pattern would replace, and returns their handlers.
    package mutating func removeRivals(of pattern: String) throws(RoutingError) -> [Handler] {
        let pattern = try RoutePattern(pattern, self.core.rules)
        var removed: [Handler?] = []
        while let index = self.core.rival(of: pattern) {
            self.mutate { $0.remove(at: index) }
            removed.append(self.handlers[Int(index)].take())
        }
        return removed.compactMap(\.self)
    }

    /// Takes all routes of a scheme away, and the scheme too where schemes have to be registered.
    public mutating func removeAll(scheme: String) {
        let scheme = self.core.rules.conventions.folded(scheme: scheme)
        for route in self.routes where route.pattern.scheme == scheme { self.remove(route.id) }
        self.mutate { $0.schemes.remove(scheme) }
    }

    /// Takes all routes and schemes away.
    public mutating func removeAll() {
        self.mutate { core in
            let generation = core.generation
            core = TableCore(rules: core.rules)
            core.generation = generation
            core.schemes = []
        }
        self.handlers = []
    }
}
