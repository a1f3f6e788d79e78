/// The route that an address leads to, and what the address says to it.
public struct RouteMatch: Sendable {
    /// The route, to be looked up in the table that matched.
    public let route: RouteID
    /// The values of path and query.
    public var parameters: Parameters

    @inlinable
    init(route: RouteID, parameters: Parameters) {
        self.route = route
        self.parameters = parameters
    }
}
