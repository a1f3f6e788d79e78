public import WaybillRouting

extension MessageBus {
    /// Unregisters the handler of a pattern; what is below it stays.
    ///
    /// - Returns: whether there was one.
    @discardableResult
    public func unregister(_ pattern: String) -> Bool {
        self.core.remove { [$0.remove(pattern)] } > 0
    }

    /// Unregisters every handler of a scheme, written in any case, and its connector.
    ///
    /// - Returns: how many there were.
    @discardableResult
    public func unregister(scheme: String) -> Int {
        let scheme = scheme.lowercased()
        let disconnected = self.core.disconnect { $0.scheme.lowercased() == scheme }
        return disconnected
            + self.core.remove { table in
                table.routes.filter { $0.pattern.scheme.lowercased() == scheme }.map {
                    table.remove($0.id)
                }
            }
    }

    /// Whether a URL has a handler now whose event loop has not been shut down; nothing is run.
    ///
    /// If nothing but a connector takes the URL, it is asked: ``Connector/canRoute(_:)``.
    public func canRoute(_ url: String) -> Bool { self.core.directory.reach(url).isPossible }

    /// What is registered, in the order of registration; connectors have no pattern: see ``connectedSchemes``.
    public var routes: [Route] {
        (try? self.core.directory.read { table throws(RoutingError) in table.routes }) ?? []
    }

    /// What is registered, in the order of registration, with all that is known of it without running anything.
    ///
    /// A module's routes say their parameters, types and documentation; of a plain closure only the pattern is known.
    public var routeDescriptions: [RouteDescription] {
        let routes = try? self.core.directory.read { table throws(RoutingError) in
            table.routes.map { route in
                if case .route(let description) = table.handler(for: route.id)?.description {
                    return description
                }
                return RouteDescription(of: route)
            }
        }
        return routes ?? []
    }
}
