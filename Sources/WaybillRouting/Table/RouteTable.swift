/// A set of patterns, each with a handler.
///
/// A table is a value. While only one copy of a table refers to its contents, an insertion changes the
/// contents in place. Other copies keep their contents. Matching calls no handler and takes no lock.
public struct RouteTable<Handler: Sendable>: Sendable {
    @usableFromInline var frozen: FrozenTrie
    @usableFromInline var handlers: [Handler?] = []

    /// Creates an empty table.
    ///
    /// - Parameters:
    ///   - conventions: The rules for reading and matching addresses and patterns.
    ///   - defaultScheme: The scheme of URLs and patterns that have no scheme.
    ///   - limits: The upper bounds on URLs, patterns and the table.
    public init(
        conventions: RoutingConventions = .waybill,
        defaultScheme: String = "app",
        limits: RoutingLimits = .default
    ) {
        self.frozen = FrozenTrie(
            RouteTrie(rules: .shared(conventions: conventions, defaultScheme: defaultScheme, limits: limits))
        )
    }

    /// The rules for reading and matching addresses and patterns.
    public var conventions: RoutingConventions { self.trie.rules.conventions }

    /// The upper bounds on URLs, patterns and the table.
    public var limits: RoutingLimits { self.trie.rules.limits }

    /// The scheme of URLs and patterns that have no scheme.
    ///
    /// Setting this property takes as long as inserting all routes again. Existing routes keep their schemes:
    /// a pattern without a scheme keeps the scheme that was the default when the pattern was inserted.
    public var defaultScheme: String {
        get { self.trie.rules.defaultScheme }
        set { self.rebuild(self.conventions, defaultScheme: newValue) }
    }

    /// Whether the route of the longest registered prefix receives an address that matches no pattern.
    ///
    /// Setting this property takes as long as inserting all routes again.
    public var fallsBack: Bool {
        get { self.trie.rules.fallsBack }
        set {
            var conventions = self.conventions
            conventions.fallsBack = newValue
            self.rebuild(conventions, defaultScheme: self.defaultScheme)
        }
    }

    private mutating func rebuild(_ conventions: RoutingConventions, defaultScheme: String) {
        guard conventions != self.conventions || defaultScheme != self.defaultScheme else { return }
        let limits = self.limits
        self.update {
            $0.rebuild(by: .shared(conventions: conventions, defaultScheme: defaultScheme, limits: limits))
        }
    }

    /// The number of routes.
    public var count: Int { self.trie.count }

    /// Whether the table has no routes.
    public var isEmpty: Bool { self.trie.count == 0 }
}

extension RouteTable {
    /// Adds a pattern and its handler.
    ///
    /// - Parameters:
    ///   - pattern: The pattern of the route.
    ///   - handler: The handler that a match returns.
    ///   - fileID: The file of the registration, for conflict messages.
    ///   - line: The line of the registration, for conflict messages.
    /// - Returns: The identifier of the registration.
    /// - Throws: ``RoutingError/Code/invalidPattern``, or ``RoutingError/Code/conflict`` when the table has a
    ///   pattern that matches the same URLs and the conventions do not replace this pattern.
    @discardableResult
    public mutating func insert(
        _ pattern: String,
        _ handler: Handler,
        fileID: String = #fileID,
        line: Int = #line
    ) throws(RoutingError) -> RouteID {
        try self.insert(RoutePattern(pattern, self.trie.rules), handler, fileID: fileID, line: line)
    }

    /// Adds a pattern that was parsed with the table's conventions.
    package mutating func insert(
        _ pattern: RoutePattern,
        _ handler: Handler,
        fileID: String = #fileID,
        line: Int = #line
    ) throws(RoutingError) -> RouteID {
        let (id, replaced) = try self.update { (trie) throws(RoutingError) in
            try trie.insert(pattern, fileID: fileID, line: line)
        }
        self.store(handler, for: id, replacing: replaced)
        return id
    }

    /// Adds patterns that were parsed with the table's conventions, in order.
    ///
    /// One call is faster than separate insertions.
    ///
    /// - Returns: The registration of each pattern; nil for a pattern that conflicts with another pattern.
    package mutating func insert(
        _ patterns: [RoutePattern],
        _ handlers: [Handler],
        fileID: String = #fileID,
        line: Int = #line
    ) -> [RouteID?] {
        guard !patterns.isEmpty else { return [] }
        let inserted = self.update { trie in
            patterns.map { try? trie.insert($0, fileID: fileID, line: line) }
        }
        for case ((let id, let replaced)?, let handler) in zip(inserted, handlers) {
            self.store(handler, for: id, replacing: replaced)
        }
        return inserted.map { $0?.id }
    }

    /// Registers a scheme, for conventions that reject URLs of other schemes.
    ///
    /// Inserting a pattern registers its scheme. The default scheme of a new table is registered.
    public mutating func register(scheme: String) {
        let scheme = self.conventions.folded(scheme: scheme)
        _ = self.update { $0.schemes.insert(scheme) }
    }

    /// The registered schemes, including the schemes of patterns.
    public var schemes: Set<String> { self.trie.schemes }

    /// The schemes that have at least one route.
    package var schemesWithRoutes: Set<String> {
        self.trie.schemes.filter { self.hasRoutes(ofScheme: $0) }
    }

    /// Returns whether at least one route has a scheme.
    ///
    /// The scheme must be in the form that the conventions compare.
    package func hasRoutes(ofScheme scheme: String) -> Bool { self.trie.existingRoot(of: scheme) != nil }
}

extension RouteTable {
    /// Removes a route and returns its handler, or nil if it was already removed.
    @discardableResult
    public mutating func remove(_ id: RouteID) -> Handler? {
        guard let index = self.trie.index(of: id) else { return nil }
        return self.remove(at: index)
    }

    /// Removes the route of a pattern and returns its handler.
    ///
    /// A route whose pattern has other parameter names is not removed.
    @discardableResult
    public mutating func remove(_ pattern: String) -> Handler? {
        guard let pattern = try? RoutePattern(pattern, self.trie.rules),
            let index = self.trie.rivals(of: pattern).first,
            self.trie.pattern(at: index)?.foldedVariants == pattern.foldedVariants
        else { return nil }
        return self.remove(at: index)
    }

    /// Replaces the handler of a route, unless the route was removed.
    package mutating func replaceHandler(of id: RouteID, with handler: Handler) {
        if let index = self.frozen.index(of: id) { self.handlers[index] = handler }
    }

    /// Removes the routes whose patterns equal a pattern apart from the names of values, and returns them
    /// with their handlers.
    package mutating func removeRivals(
        of pattern: RoutePattern
    ) -> [(route: Route, handler: Handler)] {
        var removed: [(route: Route, handler: Handler)] = []
        for index in self.trie.rivals(of: pattern) {
            let route = self.trie.route(at: index)
            if let handler = self.remove(at: index), let route { removed.append((route, handler)) }
        }
        return removed
    }

    /// Returns whether the pattern of a route equals a pattern apart from the names of values.
    package func hasRival(of pattern: RoutePattern) -> Bool { !self.trie.rivals(of: pattern).isEmpty }

    /// Removes all routes of a scheme, and unregisters the scheme.
    ///
    /// - Returns: The handlers of the routes.
    @discardableResult
    public mutating func removeAll(scheme: String) -> [Handler] {
        let scheme = self.trie.rules.conventions.folded(scheme: scheme)
        var removed: [Handler] = []
        for route in self.routes where route.pattern.scheme == scheme {
            if let handler = self.remove(route.id) { removed.append(handler) }
        }
        _ = self.update { $0.schemes.remove(scheme) }
        return removed
    }

    /// Removes all routes and all schemes except the default scheme.
    public mutating func removeAll() {
        self.update { trie in
            let generation = trie.generation
            trie = RouteTrie(rules: trie.rules)
            trie.generation = generation
        }
        self.handlers = []
    }
}

extension RouteTable {
    var trie: RouteTrie { self.frozen.trie }

    /// Changes the trie, in place if no copy of the table refers to it.
    mutating func update<Result, Failure>(
        _ body: (inout RouteTrie) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var trie = self.frozen.trie
        self.frozen = .empty
        defer { self.frozen = FrozenTrie(trie) }
        return try body(&trie)
    }

    /// Stores the handler of a new route, and releases the handlers of the routes that it replaced.
    mutating func store(_ handler: Handler, for id: RouteID, replacing replaced: [UInt32]) {
        for index in replaced { self.handlers[Int(index)] = nil }
        if id.index < self.handlers.count {
            self.handlers[id.index] = handler
        } else {
            self.handlers.append(handler)
        }
    }

    private mutating func remove(at index: UInt32) -> Handler? {
        self.update { $0.remove(at: index) }
        return self.handlers[Int(index)].take()
    }
}
