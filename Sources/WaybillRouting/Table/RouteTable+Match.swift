extension RouteTable {
    /// The best route for a URL, or nil when there is none.
    ///
    /// - Throws: ``RoutingError/Code/invalidURL`` when the text is not a URL.
    @inlinable
    public func match(_ url: String) throws(RoutingError) -> RouteMatch? { try self.core.match(url) }

    /// The best route for an address, or nil when there is none.
    @inlinable
    public func match(_ address: Address) throws(RoutingError) -> RouteMatch? { try self.core.match(address) }

    /// Whether a URL leads anywhere; nothing is run.
    public func canRoute(_ url: String) -> Bool { (try? self.match(url)) != nil }

    /// The handler of a route that this table has matched.
    @inlinable
    public func handler(for id: RouteID) -> Handler? {
        let index = Int(id.index)
        return index < self.handlers.count && self.core.index(of: id) != nil ? self.handlers[index] : nil
    }

    /// The handler that a match leads to.
    @inlinable
    public subscript(match: RouteMatch) -> Handler? { self.handlers[Int(match.route.index)] }
}
