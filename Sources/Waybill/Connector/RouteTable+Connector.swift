internal import WaybillRouting

extension RouteTable where Handler == Waybill.Handler {
    /// Where a URL leads that no route takes: to the connector of its scheme.
    ///
    /// - Parameters:
    ///   - url: the URL.
    ///   - connections: the connectors.
    ///   - failure: why the table did not look for a route, if it did not.
    /// - Returns: the connector, as a handler.
    /// - Throws: that failure, or `noRoute` with a suggestion, if there is no connector.
    @inline(never)
    func findConnector(
        _ url: String,
        _ connections: Connections,
        _ failure: RoutingError?
    ) throws(RoutingError) -> Found {
        let address = try self.address(of: url)
        if let connection = connections[address.scheme] {
            return Found(handler: connection.handler, parameters: Parameters(address: address))
        }
        throw self.lost(address, connections, failure)
    }

    /// Whether a URL leads to a handler that can be reached, or to a connector, which is to be asked.
    func reach(_ url: String, _ connections: Connections) -> Reach {
        var url = url
        if let match = (try? self.match(url)) ?? nil, let handler = self[match] {
            guard let connected = handler.ensemble?.target?.connectedURL else { return .handler(handler) }
            url = connected
        }
        guard let address = try? self.address(of: url), let connection = connections[address.scheme] else {
            return .nobody
        }
        return .connection(connection, address)
    }

    /// The error of an address that has neither a route nor a connector.
    ///
    /// Where nothing of its scheme is known, it says so, and what is known.
    private func lost(
        _ address: Address,
        _ connections: Connections,
        _ failure: RoutingError?
    ) -> RoutingError {
        let scheme = address.scheme
        let name = scheme.onShortLine
        let failure = failure ?? self.noRoute(for: address)
        let withRoutes = self.schemesWithRoutes
        guard !withRoutes.contains(scheme) else { return failure }
        let known = withRoutes.union(connections.schemes).sorted()
        let list =
            known.isEmpty
            ? "there is no other one either" : "there are \(known.prefix(8).joined(separator: ", "))"
        let more = known.count > 8 ? " and \(known.count - 8) more" : ""
        return RoutingError(
            failure.code,
            url: failure.url,
            message:
                "\(failure.message); the scheme `\(name)` has no routes and no connector (\(list)\(more))"
                + (name == scheme ? ", and `bus.connect(\"\(scheme)\", to:)` connects it" : "")
        )
    }
}
