package import WaybillRouting

/// The source of messages that code of this process has not sent.
///
/// Each audience has its own exposures.
package enum Audience: Sendable, Hashable {
    /// Other programs, over sockets and HTTP, with the exposures of ``MessageBus/expose(_:for:)``.
    case peers
    /// Other nodes of the cluster that the bus has joined, with the exposures of
    /// ``MessageBus/share(_:for:)``.
    case nodes
}

extension BusCore {
    func exposures(to audience: Audience) -> Exposures {
        switch audience {
        case .peers: self.exposures
        case .nodes: self.shares
        }
    }
}

extension MessageBus {
    /// The routes that are visible to peers, with the same facts as ``routeDescriptions``.
    package var exposedRoutes: [RouteDescription] { self.exposedRoutes(to: .peers) }

    /// Returns the routes that are visible to an audience.
    package func exposedRoutes(to audience: Audience) -> [RouteDescription] {
        self.core.exposures(to: audience).visibleRoutes(of: self.core).descriptions
    }

    /// Explains how a URL is matched when only the routes exist that are visible to an audience.
    package func explainExposed(_ url: String, to audience: Audience = .peers) -> Explanation {
        self.core.exposures(to: audience).visibleRoutes(of: self.core).table.explain(url)
    }

    /// Returns the patterns that are exposed to an audience for an operation.
    package func exposedPatterns(to audience: Audience, for operation: ExposedOperations) -> [String] {
        self.core.exposures(to: audience).patterns.filter { !$0.operations.isDisjoint(with: operation) }
            .map(\.pattern.text)
    }
}
