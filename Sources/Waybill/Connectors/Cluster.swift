package import WaybillRouting

/// A connector that carries messages without a route in this process to other nodes, which are processes.
///
/// The bus may hold locks when it calls ``canRoute(_:)`` and ``suggestions(for:)``, so neither may call the
/// bus.
package protocol Cluster: Connector {
    /// Returns patterns of other nodes that resemble an address.
    func suggestions(for address: Address) -> [String]

    /// Publishes a message to the subscribers of other nodes without blocking.
    ///
    /// - Returns: Whether another node has subscribers that may accept the message.
    func publish(_ message: Message) -> Bool

    /// The state of the cluster, as this process currently knows it.
    var view: ClusterView { get }
}

/// The state of a cluster, as one process of the cluster knows it.
package struct ClusterView: Sendable {
    /// A process of the cluster.
    package struct Member: Sendable {
        package let name: String
        package let id: String
        /// The patterns that the process shares with the other processes.
        package let patterns: [String]
        /// The time since the last message from the process.
        package let silence: Duration
        /// Whether the process accepts no more requests, but still replies to earlier requests.
        package let isLeaving: Bool

        package init(name: String, id: String, patterns: [String], silence: Duration, isLeaving: Bool) {
            self.name = name
            self.id = id
            self.patterns = patterns
            self.silence = silence
            self.isLeaving = isLeaving
        }
    }

    package let realm: String
    /// The process of this bus.
    package let own: Member
    /// The other processes of the cluster, sorted by name.
    package let others: [Member]

    package init(realm: String, own: Member, others: [Member]) {
        self.realm = realm
        self.own = own
        self.others = others
    }
}

extension MessageBus {
    /// Joins a cluster, which receives the messages that neither a route nor the connector of their scheme
    /// handles.
    ///
    /// `onChange` is called on any thread after each change of routes or shared patterns. The bus may hold
    /// locks meanwhile, so the closure must not call the bus. When the registration is cancelled, callers
    /// that wait for the cluster fail with `noHandler`.
    ///
    /// - Throws: `shutDown`, or `conflict` if the bus has already joined a cluster.
    package func join(
        _ cluster: some Cluster,
        onChange: @escaping @Sendable () -> Void
    ) throws(RoutingError) -> Registration {
        let (core, pattern) = (self.core, Connection.pattern(of: BusCore.clusterScheme))
        let handler = Handler(connector: cluster, core: core)
        handler.describe(as: .pattern(pattern))
        // The cluster must not miss a change of the routes after it has joined.
        let endObservation = core.registry.observe(onChange)
        var isJoined = false
        defer { if !isJoined { endObservation() } }
        let id = try core.registry.change { _, connections throws(RoutingError) in
            try core.checkOpen(for: pattern)
            guard connections.cluster == nil else {
                let message = "the bus has already joined a cluster: leave it before you join another one"
                throw RoutingError(.conflict, url: pattern, message: message)
            }
            let connection = Connection(
                id: connections.nextID(),
                scheme: BusCore.clusterScheme,
                handler: handler,
                connector: cluster,
                fileID: #fileID,
                line: #line,
                onEnd: endObservation
            )
            connections.cluster = (connection, cluster)
            return connection.id
        }
        isJoined = true
        return Registration(pattern: pattern) { core.disconnect { $0.id == id } }
    }

    /// Returns an empty table for patterns of other nodes, with the conventions of this bus.
    package func clusterTable<Handler: Sendable>(
        of handler: Handler.Type = Handler.self
    ) -> RouteTable<Handler> {
        var configuration = self.core.currentConfiguration
        configuration.conventions.fallsBack = false
        configuration.conventions.schemeMustBeRegistered = false
        return configuration.table()
    }

    /// Returns the address in a URL, or nil when the URL is not valid by the conventions of this bus.
    package func address(of url: String) -> Address? { try? self.core.registry.address(of: url) }

    /// Returns a pattern with its scheme, because another node can have a different default scheme.
    package func withScheme(_ pattern: String) -> String {
        let scheme = (try? self.core.currentConfiguration.pattern(pattern))?.scheme
        return scheme.map { self.core.complete(pattern, scheme: $0) } ?? pattern
    }

    /// Counts a published message that has not reached the other nodes, and makes it a dead letter.
    package func lose(_ message: Message, _ error: RoutingError) {
        self.core.fail(message, error, for: .subscriber(isLogged: true))
    }

    /// Counts a published message of which only the URL is known, and makes it a dead letter.
    package func lose(_ url: String, _ error: RoutingError) {
        self.core.fail(Request(url: url), error, for: .subscriber(isLogged: true))
    }

    /// Publishes a message of another node to the subscribers of this process, whether or not the URL is
    /// shared.
    ///
    /// - Returns: The number of subscribers that accepted the message.
    @discardableResult
    package nonisolated(nonsending) func publishFromNode(
        _ message: Message
    ) async throws(RoutingError) -> Int {
        let sender = ExternalCaller(message.origin, for: .nodes, returnHandler: nil)
        let request = Request(
            url: message.parameters.url,
            passed: message.parameters.passed,
            extras: MessageExtras(payload: message.rawPayload, headers: message.headers, external: sender),
            hops: message.hops,
            expiry: message.expiry
        )
        return try await self.core.publish(request, isExternal: true)
    }

    /// Returns whether a route of this process matches a URL, without regard to connectors.
    package func hasOwnRoute(for url: String) -> Bool { self.core.matches(url) }
}

extension Message {
    /// Whether another node sent the message, so that this process must not pass it on to a third node.
    package var isFromNode: Bool {
        self.extras?.external?.audience == .nodes && self.extras?.isReturnOf == nil
    }
}

extension MiddlewareContext {
    /// Whether another node of the cluster handles the message.
    package var isForOtherNode: Bool { self.pattern == Connection.pattern(of: BusCore.clusterScheme) }
}

extension BusCore {
    fileprivate static let clusterScheme = "*"

    /// Publishes a request to the subscribers of other nodes, unless the request came from another node.
    @inline(never)
    func publishToNodes(_ request: Request, _ address: Address?) -> Bool {
        guard request.extras?.external?.audience != .nodes, let cluster = self.registry.cluster,
            let address = address ?? (try? self.registry.address(of: request.url))
        else { return false }
        let parameters = Parameters(address: address)
        return cluster.publish(request.message(id: self.nextID(), parameters: parameters))
    }
}
