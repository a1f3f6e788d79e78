/// The patterns that can be routed, each with its handler.
///
/// A table is a value. While only one place holds it, an insertion changes it where it is; where somebody else still
/// reads a copy, the copy stays as it was. Matching runs no handler and needs no lock.
public struct RouteTable<Handler: Sendable>: Sendable {
    @usableFromInline var frozen: FrozenTrie
    @usableFromInline var handlers: [Handler?] = []

    /// Makes an empty table.
    ///
    /// - Parameters:
    ///   - conventions: how addresses and patterns are read and matched.
    ///   - defaultScheme: the scheme of what names none.
    ///   - limits: how large what is routed may be.
    public init(
        conventions: RoutingConventions = .waybill,
        defaultScheme: String = "app",
        limits: RoutingLimits = .default
    ) {
        self.frozen = FrozenTrie(
            RouteTrie(rules: .shared(conventions: conventions, defaultScheme: defaultScheme, limits: limits))
        )
    }

    /// How addresses and patterns are read and matched.
    public var conventions: RoutingConventions { self.trie.rules.conventions }

    /// How large what is routed may be.
    public var limits: RoutingLimits { self.trie.rules.limits }

    /// The scheme of what names none.
    public var defaultScheme: String { self.trie.rules.defaultScheme }

    /// How many routes there are.
    public var count: Int { self.trie.count }

    /// Whether there is no route.
    public var isEmpty: Bool { self.trie.count == 0 }
}

extension RouteTable {
    /// Adds a pattern and its handler.
    ///
    /// - Parameters:
    ///   - pattern: what the handler is for.
    ///   - handler: what a match leads to.
    ///   - fileID: where the registration is written; conflicts name it.
    ///   - line: where the registration is written; conflicts name it.
    /// - Returns: what the registration is known by.
    /// - Throws: ``RoutingError/Code/invalidPattern``, or ``RoutingError/Code/conflict`` when a pattern of the same
    ///   shape is there and the conventions do not let it be replaced.
    @discardableResult
    public mutating func insert(
        _ pattern: String,
        _ handler: Handler,
        fileID: String = #fileID,
        line: Int = #line
    ) throws(RoutingError) -> RouteID {
        let read = try RoutePattern(pattern, self.trie.rules)
        let id = try self.update { (trie) throws(RoutingError) in
            try trie.insert(read, fileID: fileID, line: line)
        }
        if id.index < self.handlers.count {
            self.handlers[id.index] = handler
        } else {
            self.handlers.append(handler)
        }
        return id
    }

    /// Lets URLs of a scheme in, where the conventions ask for schemes to be registered.
    ///
    /// A pattern that is inserted registers its scheme, and so does the default scheme of the table.
    public mutating func register(scheme: String) {
        let scheme = self.conventions.folded(scheme: scheme)
        self.mutate { $0.schemes.insert(scheme) }
    }

    /// The schemes of the table's patterns, and those that were registered.
    public var schemes: Set<String> { self.trie.schemes }

    /// The schemes that have routes now.
    package var schemesWithRoutes: Set<String> {
        self.trie.schemes.filter { self.trie.existingRoot(of: $0) != nil }
    }
}

extension RouteTable {
    /// Takes a route away and returns its handler, or nil when it is not there any more.
    @discardableResult
    public mutating func remove(_ id: RouteID) -> Handler? {
        guard let index = self.trie.index(of: id) else { return nil }
        self.mutate { $0.remove(at: index) }
        return self.handlers[Int(index)].take()
    }

    /// Takes the route of a pattern away; one that only looks alike, with other names, stays.
    @discardableResult
    public mutating func remove(_ pattern: String) -> Handler? {
        guard let pattern = try? RoutePattern(pattern, self.trie.rules),
            let index = self.trie.rival(of: pattern), self.trie.pattern(at: index) == pattern
        else { return nil }
        self.mutate { $0.remove(at: index) }
        return self.handlers[Int(index)].take()
    }

    /// Takes away the routes that a pattern would replace, and returns their handlers.
    package mutating func removeRivals(of pattern: String) throws(RoutingError) -> [Handler] {
        let pattern = try RoutePattern(pattern, self.trie.rules)
        var removed: [Handler?] = []
        while let index = self.trie.rival(of: pattern) {
            self.mutate { $0.remove(at: index) }
            removed.append(self.handlers[Int(index)].take())
        }
        return removed.compactMap(\.self)
    }

    /// Takes all routes of a scheme away, and the scheme too where schemes have to be registered.
    public mutating func removeAll(scheme: String) {
        let scheme = self.trie.rules.conventions.folded(scheme: scheme)
        for route in self.routes where route.pattern.scheme == scheme { self.remove(route.id) }
        self.mutate { $0.schemes.remove(scheme) }
    }

    /// Takes all routes and schemes away.
    public mutating func removeAll() {
        self.mutate { trie in
            let generation = trie.generation
            trie = RouteTrie(rules: trie.rules)
            trie.generation = generation
            trie.schemes = []
        }
        self.handlers = []
    }
}

extension RouteTable {
    var trie: RouteTrie { self.frozen.trie }

    /// Changes the core, in place when no copy of the table is about.
    mutating func update<Result>(
        _ body: (inout RouteTrie) throws(RoutingError) -> Result
    ) throws(RoutingError) -> Result {
        var trie = self.frozen.trie
        self.frozen = .empty
        defer { self.frozen = FrozenTrie(trie) }
        return try body(&trie)
    }

    /// Changes the core in a way that cannot fail.
    mutating func mutate(_ body: (inout RouteTrie) -> Void) {
        var trie = self.frozen.trie
        self.frozen = .empty
        body(&trie)
        self.frozen = FrozenTrie(trie)
    }
}
