internal import Synchronization
internal import WaybillEventLoop
package import WaybillRouting

/// Carries the messages that no route of this process takes to other nodes.
///
/// Locks of the bus may be held when ``canRoute(_:)`` and ``suggestions(for:)`` are called, so neither may
/// call the bus.
package protocol Cluster: Connector {
    /// Patterns of other nodes that are like an address.
    func suggestions(for address: Address) -> [String]

    /// Publishes a message to the subscribers of other nodes; it must not block.
    ///
    /// - Returns: whether another node has subscribers that may take it.
    func publish(_ message: Message) -> Bool

    /// The cluster as this node sees it now.
    var view: ClusterView { get }
}

/// Ends the notes of changes that a cluster gets.
private struct ClusterObservation: Sendable {
    let end: @Sendable () -> Void
}

/// A cluster as one of its nodes sees it.
package struct ClusterView: Sendable {
    /// A node.
    package struct Member: Sendable {
        package let name: String
        package let id: String
        /// The patterns that it shares.
        package let patterns: [String]
        /// How long it has said nothing.
        package let silence: Duration
        /// Whether it takes no more requests, and still answers those that it has.
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
    /// This node.
    package let own: Member
    /// The others, by name.
    package let others: [Member]

    package init(realm: String, own: Member, others: [Member]) {
        self.realm = realm
        self.own = own
        self.others = others
    }
}

extension MessageBus {
    /// Has a cluster take what neither a route nor the connector of its scheme takes.
    ///
    /// - Parameters:
    ///   - cluster: carries the messages.
    ///   - onChange: called after each change of routes and of what is shared, from any thread.
    /// - Returns: what takes the cluster away; callers that wait for it fail with `noHandler` then.
    /// - Throws: `shutDown`, or `conflict` if there is one.
    package func join(
        _ cluster: some Cluster,
        onChange: @escaping @Sendable () -> Void
    ) throws(RoutingError) -> Registration {
        try self.core.join(cluster, onChange)
    }

    /// An empty table for the patterns of other nodes, which are read as this bus reads its own.
    package func clusterTable<Handler: Sendable>(
        of handler: Handler.Type = Handler.self
    ) -> RouteTable<Handler> {
        var configuration = self.core.currentConfiguration
        configuration.conventions.fallsBack = false
        configuration.conventions.schemeMustBeRegistered = false
        return configuration.table()
    }

    /// A pattern with its scheme, since another node may have another default scheme.
    package func withScheme(_ pattern: String) -> String {
        guard let scheme = (try? self.core.currentConfiguration.pattern(pattern))?.scheme else {
            return pattern
        }
        return self.core.complete(pattern, scheme: scheme)
    }

    /// Notes that a published message has not reached the nodes that it was for: a dead letter, which counts
    /// as a message of its own.
    package func lose(_ message: Message, _ error: RoutingError) {
        self.lose(content: message, error)
    }

    /// Notes the same of a message of which the URL alone is known.
    package func lose(_ url: String, _ error: RoutingError) {
        self.lose(content: Request(url: url), error)
    }

    private func lose(content: some SettledContent, _ error: RoutingError) {
        let shard = self.core.currentShard
        self.core.settle(
            self.core.open(on: shard),
            as: .failed(error),
            of: content,
            for: .subscriber(isLogged: true),
            at: nil,
            on: shard
        )
    }

    /// Whether a route of this process takes a URL, whatever connectors may do.
    package func hasOwnRoute(for url: String) -> Bool { self.core.matches(url) }
}

extension Message {
    /// Whether another node has sent it on behalf of its own caller, so that it must not go on to a third.
    package var isFromNode: Bool {
        self.extras?.external?.audience == .nodes && self.extras?.isReturnOf == nil
    }
}

extension BusCore {
    private static let clusterScheme = "*"

    fileprivate func join(
        _ cluster: any Cluster,
        _ onChange: @escaping @Sendable () -> Void
    ) throws(RoutingError) -> Registration {
        let pattern = Connection.pattern(of: Self.clusterScheme)
        let handler = Handler(connector: cluster, mailbox: self.homeMailbox, core: self)
        handler.describe(as: .pattern(pattern))
        let id = try self.registry.change { _, connections throws(RoutingError) in
            guard self.phase.load(ordering: .sequentiallyConsistent) == .open else {
                throw .shutDown(url: pattern)
            }
            guard connections.cluster == nil else {
                throw RoutingError(.conflict, url: pattern, message: "the bus has joined a cluster already")
            }
            let connection = Connection(
                id: connections.nextID(),
                scheme: Self.clusterScheme,
                handler: handler,
                connector: cluster,
                fileID: #fileID,
                line: #line
            )
            connections.cluster = (connection, cluster)
            return connection.id
        }
        self.attachments.set(ClusterObservation(end: self.registry.observe(onChange)))
        self.publishesToNodes.store(true, ordering: .relaxed)
        return Registration(pattern: pattern, core: self, target: .cluster(id))
    }

    func leaveCluster(_ id: Int) {
        let removed = self.disconnect { $0.id == id }
        guard removed > 0 else { return }
        self.attachments.value(of: ClusterObservation.self)?.end()
        self.publishesToNodes.store(false, ordering: .relaxed)
    }

    /// Publishes a request to the subscribers of other nodes, unless it came from one.
    ///
    /// - Parameters:
    ///   - request: what is published.
    ///   - address: its address, if that is known.
    /// - Returns: whether another node has subscribers that may take it.
    @inline(never)
    func publishToNodes(_ request: Request, _ address: Address?) -> Bool {
        guard request.extras?.external?.audience != .nodes, let cluster = self.registry.cluster,
            let address = address ?? (try? self.address(of: request.url))
        else { return false }
        let parameters = Parameters(address: address)
        return cluster.publish(request.message(id: self.nextID(), parameters: parameters))
    }
}
