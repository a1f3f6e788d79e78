extension RouteTable {
    /// The best route for a URL, or nil when there is none.
    ///
    /// - Throws: ``RoutingError/Code/invalidURL`` when the text is not a URL, and ``RoutingError/Code/refused`` when
    ///   its scheme has to be registered and is not.
    @inlinable
    public func match(_ url: String) throws(RoutingError) -> RouteMatch? { try self.frozen.match(url) }

    /// The best route for an address, or nil when there is none.
    ///
    /// - Throws: ``RoutingError/Code/refused`` when the scheme has to be registered and is not.
    @inlinable
    public func match(_ address: Address) throws(RoutingError) -> RouteMatch? {
        try self.frozen.match(address.text)
    }

    /// The address in a URL, as the table reads it.
    ///
    /// - Throws: ``RoutingError/Code/invalidURL`` when the text is not a URL.
    package func address(of url: String) throws(RoutingError) -> Address {
        try Address(url, self.trie.rules)
    }

    /// Whether a URL leads anywhere; nothing is run.
    public func canRoute(_ url: String) -> Bool { (try? self.match(url)) != nil }

    /// The handler of a route, or nil when the route is not there any more.
    @inlinable
    public func handler(for id: RouteID) -> Handler? {
        self.frozen.index(of: id).flatMap { self.handlers[$0] }
    }

    /// The handler that a match leads to; the match has to be one of this table as it is.
    @inlinable
    public subscript(match: RouteMatch) -> Handler? { self.handlers[match.route.index] }

    /// The handler of a route that this table, as it is, has just matched.
    @inlinable
    package subscript(route: RouteID) -> Handler? { self.handlers[route.index] }
}

extension RouteTable {
    /// Whether the table can tell every route that matches: it cannot where one pattern changes what another matches.
    package var canMatchAll: Bool {
        let rules = self.trie.rules
        return rules.backtracks && !rules.fallsBack && !rules.valuesNeedExactCase
    }

    /// Every route for a URL, each once, in no order; the scheme need not be registered.
    ///
    /// Where ``canMatchAll`` is false, it is the best one.
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

    /// Adds a pattern unless one of the same shape is there, or one that it cannot be told beside.
    ///
    /// - Returns: what the registration is known by, or nil if another table has to take the pattern.
    /// - Throws: ``RoutingError/Code/invalidPattern`` when the table is full.
    package mutating func insertBeside(
        _ pattern: RoutePattern,
        _ handler: Handler
    ) throws(RoutingError) -> RouteID? {
        if !self.isEmpty, !self.canMatchAll || self.trie.rival(of: pattern) != nil { return nil }
        let id = try self.update { (trie) throws(RoutingError) in
            try trie.insert(pattern, fileID: #fileID, line: #line)
        }
        if id.index < self.handlers.count {
            self.handlers[id.index] = handler
        } else {
            self.handlers.append(handler)
        }
        return id
    }
}

/// The route that an address leads to, and what the address says to it.
public struct RouteMatch: Sendable {
    /// The values of path and query.
    public var parameters: Parameters

    /// The route, to be looked up in the table that matched.
    @inlinable public var route: RouteID { RouteID(bits: self.parameters.route) }

    /// Whether there is a route at all.
    @inlinable var isFound: Bool { self.parameters.route != 0 }

    /// What stands for no match inside of the library.
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

    /// The values, taken out of a match that is not needed any more; a property would copy them.
    @inlinable
    @inline(__always)
    package consuming func take() -> Parameters { self.parameters }
}
