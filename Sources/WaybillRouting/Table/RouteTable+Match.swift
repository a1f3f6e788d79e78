extension RouteTable {
    /// Returns the best route for a URL, or nil when no route matches.
    ///
    /// - Throws: ``RoutingError/Code/invalidURL`` when the text is not a URL, and
    ///   ``RoutingError/Code/refused`` when the conventions require registered schemes and the URL's scheme
    ///   is not registered.
    @inlinable
    public func match(_ url: String) throws(RoutingError) -> RouteMatch? { try self.frozen.match(url) }

    /// Returns the best route for an address, or nil when no route matches.
    ///
    /// - Throws: ``RoutingError/Code/refused`` when the conventions require registered schemes and the
    ///   address's scheme is not registered, and ``RoutingError/Code/invalidURL`` when the text of the
    ///   address is not a URL under the conventions or limits of this table.
    @inlinable
    public func match(_ address: Address) throws(RoutingError) -> RouteMatch? {
        try self.frozen.match(address.text)
    }

    /// Returns the parameters of a URL according to the closest route.
    ///
    /// If a route matches the URL, the result is the parameters of the match. Otherwise, the result is the
    /// parameters of the route of the URL's longest registered prefix, even if the table's conventions do not
    /// fall back to this route. If no prefix is registered and the table does not backtrack, the result
    /// contains the values of the placeholders that the search has passed. In all other cases, the result is
    /// nil.
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

    /// Returns whether a URL matches a route.
    ///
    /// The method calls no handler.
    public func canRoute(_ url: String) -> Bool { (try? self.match(url)) != nil }

    /// Returns the handler of a route, or nil if the route was removed.
    @inlinable
    public func handler(for id: RouteID) -> Handler? {
        self.frozen.index(of: id).flatMap { self.handlers[$0] }
    }

    /// The handler of a match.
    ///
    /// The match must come from this table, and the table must not have changed since the match.
    @inlinable
    public subscript(match: RouteMatch) -> Handler? { self.handlers[match.route.index] }
}

extension RouteTable {
    /// Whether `matchAll` can return every matching route.
    ///
    /// `matchAll` cannot do so if one pattern can change the matches of another pattern.
    package var canMatchAll: Bool {
        let rules = self.trie.rules
        return rules.backtracks && !rules.fallsBack && !rules.valuesNeedExactCase
    }

    /// Returns every route that matches a URL.
    ///
    /// Each route occurs once, in no particular order.
    ///
    /// The scheme of the URL need not be registered. If ``canMatchAll`` is false, the result contains only
    /// the best match.
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

    /// Returns the handler of the route whose pattern equals a pattern without optional groups, apart from
    /// the names of values.
    ///
    /// - Returns: The handler; nil when the table has no such route, or when two patterns that differ only in
    ///   names can match different addresses.
    package func handler(sharedWith pattern: RoutePattern) -> Handler? {
        guard self.canMatchAll, pattern.variants.count == 1,
            let route = self.trie.rivals(of: pattern).first
        else { return nil }
        return self.handlers[Int(route)]
    }

    /// Adds a pattern that matches independently of all other patterns of the table.
    ///
    /// Does not add the pattern if the table has a pattern that differs only in the names of values, or if
    /// the conventions make matches depend on other patterns.
    ///
    /// - Returns: The identifier of the registration; nil if the pattern was not added and needs a separate
    ///   table.
    /// - Throws: ``RoutingError/Code/invalidPattern`` when the table is full.
    package mutating func insertBeside(
        _ pattern: RoutePattern,
        _ handler: Handler
    ) throws(RoutingError) -> RouteID? {
        if !self.isEmpty, !self.canMatchAll || !self.trie.rivals(of: pattern).isEmpty { return nil }
        let (id, replaced) = try self.update { (trie) throws(RoutingError) in
            try trie.insert(pattern, fileID: #fileID, line: #line)
        }
        self.store(handler, for: id, replacing: replaced)
        return id
    }
}

/// The route that an address matches, with the values of its parameters.
public struct RouteMatch: Sendable {
    /// The parameters of path and query.
    public var parameters: Parameters

    /// The identifier of the matched route, in the table that created the match.
    @inlinable public var route: RouteID { RouteID(bits: self.parameters.route) }

    /// Whether a route matched.
    @inlinable package var isFound: Bool { self.parameters.route != 0 }

    /// The value that means "no match" within the library.
    ///
    /// The value is not an optional, because the runtime would copy an optional of this size.
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

    /// Consumes the match and returns its parameters.
    ///
    /// Reading the property would copy the parameters.
    @inlinable
    @inline(__always)
    package consuming func take() -> Parameters { self.parameters }
}
