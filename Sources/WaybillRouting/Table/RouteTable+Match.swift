extension RouteTable {
    /// The best route for a URL, or nil when there is none.
    ///
    /// - Throws: ``RoutingError/Code/invalidURL`` when the text is not a URL, and ``RoutingError/Code/refused`` when
    ///   its scheme has to be registered and is not.
    @inlinable
    public func match(_ url: String) throws(RoutingError) -> RouteMatch? { try self.box.match(url) }

    /// The best route for an address, or nil when there is none.
    ///
    /// - Throws: ``RoutingError/Code/refused`` when the scheme has to be registered and is not.
    @inlinable
    public func match(_ address: Address) throws(RoutingError) -> RouteMatch? {
        try self.box.match(address.text)
    }

    /// The address in a URL, as the table reads it.
    ///
    /// - Throws: ``RoutingError/Code/invalidURL`` when the text is not a URL.
    package func address(of url: String) throws(RoutingError) -> Address {
        try Address(url, self.core.rules)
    }

    /// Whether a URL leads anywhere; nothing is run.
    public func canRoute(_ url: String) -> Bool { (try? self.match(url)) != nil }

    /// The handler of a route, or nil when the route is not there any more.
    @inlinable
    public func handler(for id: RouteID) -> Handler? { self.box.index(of: id).flatMap { self.handlers[$0] } }

    /// The handler that a match leads to; the match has to be one of this table as it is.
    @inlinable
    public subscript(match: RouteMatch) -> Handler? { self.handlers[match.route.index] }

    /// The handler of a route that this table, as it is, has just matched.
    @inlinable
    package subscript(route: RouteID) -> Handler? { self.handlers[route.index] }
}
