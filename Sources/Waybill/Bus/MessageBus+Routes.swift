public import WaybillRouting

extension MessageBus {
    /// Unregisters the handler of a pattern; what is below it stays.
    ///
    /// - Returns: whether there was one.
    @discardableResult
    public func unregister(_ pattern: String) -> Bool {
        self.core.remove { [$0.remove(pattern)] } > 0
    }

    /// Unregisters every handler of a scheme, written in any case.
    ///
    /// - Returns: how many there were.
    @discardableResult
    public func unregister(scheme: String) -> Int {
        self.core.remove { table in
            let scheme = scheme.lowercased()
            return table.routes.filter { $0.pattern.scheme.lowercased() == scheme }.map {
                table.remove($0.id)
            }
        }
    }

    /// Whether a URL has a handler now whose event loop has not been shut down; nothing is run.
    public func canRoute(_ url: String) -> Bool {
        (try? self.core.directory.read { table throws(RoutingError) in table.canReach(url) }) ?? false
    }

    /// What is registered, in the order of registration.
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
