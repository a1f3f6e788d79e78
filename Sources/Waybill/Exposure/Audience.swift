package import WaybillRouting

/// From where messages come that code of this process has not sent; each has exposures of its own.
package enum Audience: Sendable, Hashable {
    /// Other programs, over sockets and HTTP: ``MessageBus/expose(_:for:)``.
    case peers
    /// Other nodes of the cluster that the bus has joined: ``MessageBus/share(_:for:)``.
    case nodes
}

extension BusCore {
    /// What is exposed to an audience.
    func exposures(to audience: Audience) -> Exposures {
        switch audience {
        case .peers: self.exposures
        case .nodes: self.shares
        }
    }
}

extension MessageBus {
    /// The routes that peers see, as ``routeDescriptions`` has them.
    package var exposedRoutes: [RouteDescription] { self.exposedRoutes(to: .peers) }

    /// The same for an audience.
    package func exposedRoutes(to audience: Audience) -> [RouteDescription] {
        self.core.exposures(to: audience).visibleRoutes(of: self.core).descriptions
    }

    /// Explains a URL as if there were no routes but those that an audience sees.
    package func explainExposed(_ url: String, to audience: Audience = .peers) -> Explanation {
        self.core.exposures(to: audience).visibleRoutes(of: self.core).table.explain(url)
    }

    /// The patterns that are exposed to an audience for an operation.
    package func exposedPatterns(to audience: Audience, for operation: ExposedOperations) -> [String] {
        self.core.exposures(to: audience).patterns.filter { !$0.operations.isDisjoint(with: operation) }
            .map(\.pattern.text)
    }
}
