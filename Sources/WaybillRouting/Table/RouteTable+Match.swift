extension RouteTable {
    /// The best route for a URL, or nil when there is none.
    ///
    /// - Throws: ``RoutingError/Code/invalidURL`` when the text is not a URL, and
    ///   ``RoutingError/Code/refused`` when its scheme has to be registered and is not.
    @inlinable
    public func match(_ url: String) throws(RoutingError) -> RouteMatch? { try self.frozen.match(url) }

    /// The best route for an address, or nil when there is none.
    ///
    /// - Throws: ``RoutingError/Code/refused`` when the scheme has to be registered and is not.
    @inlinable
    public func match(_ address: Address) throws(RoutingError) -> RouteMatch? {
        try self.frozen.match(address.text)
    }

    /// What a URL that matches nothing says by the route of its longest registered prefix, whether or not the
    /// table falls back to it; or, without backtracking, by the placeholders on the way.
    package func closestParameters(of url: String) -> Parameters? {
        if let match = try? self.frozen.slowMatch(url, fallsBack: true), match.isFound {
            return match.take()
        }
        return self.frozen.parametersOnTheWay(url)
    }

    /// Parses a URL with the table's conventions.
    ///
    /// - Throws: ``RoutingError/Code/invalidURL`` when the text is not a URL.
    package func address(of url: String) throws(RoutingError) -> Address {
        try Address(url, self.trie.rules)
    }

    /// Whether a URL matches a route; calls no handler.
    public func canRoute(_ url: String) -> Bool { (try? self.match(url)) != nil }

    /// The handler of a route, or nil if the route was removed.
    @inlinable
    public func handler(for id: RouteID) -> Handler? {
        self.frozen.index(of: id).flatMap { self.handlers[$0] }
    }

    /// The handler of a match; the match must come from this table, unchanged since.
    @inlinable
    public subscript(match: RouteMatch) -> Handler? { self.handlers[match.route.index] }

    /// The handler of a route that this table, unchanged since, has matched.
    @inlinable
    package subscript(route: RouteID) -> Handler? { self.handlers[route.index] }
}

extension RouteTable {
    /// Whether `matchAll` can return every matching route: false where one pattern changes what another
    /// matches.
    package var canMatchAll: Bool {
        let rules = self.trie.rules
        return rules.backtracks && !rules.fallsBack && !rules.valuesNeedExactCase
    }

    /// Every route that matches a URL, each once, in no particular order; schemes need not be registered.
    ///
    /// Where ``canMatchAll`` is false, the result is the best match alone.
    ///
    /// - Throws: ``RoutingError/Code/invalidURL`` when the text is not a URL.
    package func matchAll(_ url: String) throws(RoutingError) -> [RouteMatch] {
        guard !self.isEmpty else { return [] }
        if self.canMatchAll { return try self.frozen.matchAll(url) }
        do {
            return try self.match(url).map { [$0] } ?? []
        } catch {
            if error.code == .refused { return [] }
            throw error
        }
    }

    /// The handler of the route that has the shape of a pattern without optional groups.
    ///
    /// - Returns: The handler; nil when there is none, or when patterns of one shape can match other addresses.
    package func handler(sharedWith pattern: RoutePattern) -> Handler? {
        guard self.canMatchAll, pattern.variants.count == 1, let route = self.trie.rival(of: pattern) else {
            return nil
        }
        return self.handlers[Int(route)]
    }

    /// Adds a pattern unless the table has one of its shape, or cannot match several patterns independently.
    ///
    /// - Returns: the identifier of the registration; nil if the pattern needs a table of its own.
    /// - Throws: ``RoutingError/Code/invalidPattern`` when the table is full.
    package mutating func insertBeside(
        _ pattern: RoutePattern,
        _ handler: Handler
    ) throws(RoutingError) -> RouteID? {
        if !self.isEmpty, !self.canMatchAll || self.trie.rival(of: pattern) != nil { return nil }
        let id = try self.update { (trie) throws(RoutingError) in
            try trie.insert(pattern, fileID: #fileID, line: #line)
        }
        self.store(handler, for: id)
        return id
    }
}

/// The route that an address matches, with the values of its parameters.
public struct RouteMatch: Sendable {
    /// The parameters of path and query.
    public var parameters: Parameters

    /// The identifier of the route in the table that matched.
    @inlinable public var route: RouteID { RouteID(bits: self.parameters.route) }

    /// Whether a route matched.
    @inlinable package var isFound: Bool { self.parameters.route != 0 }

    /// The value for "no match" within the library: an optional of this size would be copied by the runtime.
    static var none: Self {
        @inline(__always) get {
            Self(
                parameters: Parameters(
                    text: "",
                    layout: AddressLayout(),
                    names: nil,
                    captures: Captures(),
                    route: 0
                )
            )
        }
    }

    /// Consumes the match and returns its parameters; reading the property would copy them.
    @inlinable
    @inline(__always)
    package consuming func take() -> Parameters { self.parameters }
}
