package import Waybill
internal import WaybillEventLoop
package import WaybillNATS
package import WaybillRouting
package import WaybillTestSupport

/// Nodes of one cluster in one process, each with its own bus and loop.
package final class TestCluster: Sendable {
    /// The transport of the messages.
    package enum Kind: String, CaseIterable, Sendable {
        case memory
        #if NATS
        case nats
        #endif
    }

    package struct Node: Sendable {
        package let bus: MessageBus
        package let node: ClusterNode
        /// The transport of a node that uses a ``MemoryServer``.
        package let transport: MemoryTransport?
        package let task: Task<Void, any Error>

        /// Makes the node leave, and waits until it has left.
        package func leave() async throws {
            self.node.beginGracefulShutdown()
            try await self.task.value
        }
    }

    package let memory: MemoryServer
    #if NATS
    package let server: NATSServer?
    #endif
    private let kind: Kind
    private let nodes = Locked<[Node]>([])

    package init(_ kind: Kind, payloadLimit: Int = 1 << 20) async throws {
        self.kind = kind
        self.memory = MemoryServer(payloadLimit: payloadLimit)
        #if NATS
        self.server = kind == .nats ? try await NATSServer() : nil
        #endif
    }

    /// The heartbeat of nodes in a test that waits for heartbeats, or for the loss of a silent node.
    package static let shortHeartbeat = Scale.whileQuick / 10

    /// Adds a node that has joined.
    ///
    /// With the default heartbeat, a pause of the machine does not make the other nodes drop the node.
    package func node(
        _ name: String,
        realm: String = "test",
        conventions: RoutingConventions = .waybill,
        heartbeat: Duration = .seconds(2),
        drainLimit: Duration = .seconds(5),
        publicationFormat: ClusterNode.PublicationFormat = .jsonRPC,
        requestsOfClients: Int = 4096,
        requestsOfNodes: Int = 262_144,
        log: Journal<String>? = nil,
        _ prepare: (MessageBus) throws -> Void = { _ in }
    ) async throws -> Node {
        let bus = MessageBus(configuration: .quiet(by: conventions))
        try prepare(bus)
        var configuration = ClusterNode.Configuration()
        configuration.name = name
        configuration.heartbeatInterval = heartbeat
        configuration.drainLimit = drainLimit
        configuration.publicationFormat = publicationFormat
        configuration.requestsOfClients = requestsOfClients
        configuration.requestsOfNodes = requestsOfNodes
        configuration.discoveryTime = .milliseconds(self.kind == .memory ? 5 : 60)
        configuration.logger = (log.map { .logging(to: $0) } ?? MessageBus.Configuration.quiet).logger
        let (node, transport) = self.join(bus, realm, configuration)
        try await node.start()
        let made = Node(bus: bus, node: node, transport: transport, task: Task { try await node.run() })
        self.nodes.withLock { $0.append(made) }
        return made
    }

    private func join(
        _ bus: MessageBus,
        _ realm: String,
        _ configuration: ClusterNode.Configuration
    ) -> (ClusterNode, MemoryTransport?) {
        #if NATS
        if let server {
            let transport = NATSTransport(servers: [server.url], realm: realm)
            return (bus.join(transport, configuration: configuration), nil)
        }
        #endif
        let transport = self.memory.transport()
        return (ClusterNode(bus, realm: realm, over: transport, configuration: configuration), transport)
    }

    /// Makes all nodes leave, and stops the server.
    package func end() async {
        for node in self.nodes.withLock({ $0 }) {
            node.node.beginGracefulShutdown()
            _ = try? await node.task.value
            await node.bus.shutDown()
        }
        #if NATS
        self.server?.stop()
        #endif
    }
}

/// Runs a closure with a cluster, which ends afterwards.
///
/// `payloadLimit` is the size limit of a server in memory.
package func withCluster(
    _ kind: TestCluster.Kind,
    payloadLimit: Int = 1 << 20,
    _ body: (TestCluster) async throws -> Void
) async throws {
    let cluster = try await TestCluster(kind, payloadLimit: payloadLimit)
    do {
        try await body(cluster)
    } catch {
        await cluster.end()
        throw error
    }
    await cluster.end()
}

extension TestCluster.Node {
    /// Waits until this node knows a pattern of another node.
    package func knows(_ pattern: String) async -> Bool {
        await eventually { self.node.members.contains { $0.routes.contains(pattern) } }
    }

    /// Waits until each message of the bus has ended, and returns whether the counts add up.
    package func balances() async -> Bool {
        await eventually {
            let counts = self.bus.statistics
            return counts.inFlight == 0 && self.node.statistics.inFlight == 0
                && counts.sent == counts.replied + counts.failed + counts.expired + counts.cancelled
                    + counts.deadLettered
        }
    }
}
