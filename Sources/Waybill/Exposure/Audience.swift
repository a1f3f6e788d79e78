package import WaybillRouting

/// The senders outside of this process that can reach URLs of the bus, with their own exposed patterns.
package enum Audience: Sendable, Hashable {
    /// Other programs, over sockets and HTTP, to which ``MessageBus/expose(_:for:)`` exposes URLs.
    case peers
    /// The other processes of the cluster, to which ``MessageBus/share(_:for:)`` exposes URLs.
    case nodes
}

extension BusCore {
    func exposures(to audience: Audience) -> Exposures {
        audience == .peers ? self.exposures : self.shares
    }

    func expose(
        _ pattern: String,
        _ operations: ExposedOperations,
        to audience: Audience
    ) throws(RoutingError) -> Registration {
        try self.checkOpen(for: pattern)
        let id = try self.exposures(to: audience).change { table throws(RoutingError) in
            try table.insert(pattern, operations)
        }
        self.registry.noteChange()
        return Registration(pattern: pattern) {
            self.exposures(to: audience).change { $0.hide(id) }
            self.registry.noteChange()
        }
    }
}

extension MessageBus {
    /// Returns the routes that are visible to an audience.
    package func exposedRoutes(to audience: Audience) -> [RouteDescription] {
        self.core.exposures(to: audience).visibleRoutes(of: self.core).descriptions
    }

    /// Explains how a URL is matched by the routes that are visible to an audience, without all other routes.
    package func explainExposed(_ url: String, to audience: Audience = .peers) -> Explanation {
        self.core.exposures(to: audience).visibleRoutes(of: self.core).table.explain(url)
    }

    /// Returns the patterns that are exposed to an audience for an operation.
    package func exposedPatterns(to audience: Audience, for operation: ExposedOperations) -> [String] {
        self.core.exposures(to: audience).patterns.filter { !$0.operations.isDisjoint(with: operation) }
            .map(\.pattern.text)
    }
}
