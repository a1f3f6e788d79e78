public import Logging
package import Waybill
internal import WaybillEventLoop
internal import WaybillRouting

/// A bus as a node of a cluster.
///
/// The node sends messages for the routes of other nodes to those nodes. It handles the messages of other
/// nodes for the routes that this bus shares.
///
/// Create a node with `bus.join(_:)`. Run the node as a service of swift-service-lifecycle that is listed
/// after the bus. While the node runs, the bus sends a message to another node if the URL matches neither a
/// route nor the scheme of a connector, and the other node shares a pattern that matches. Calls do not
/// change:
///
/// ```swift
/// try bus.share("app://billing/**")
/// try await bus.join(NATSTransport(servers: ["nats://127.0.0.1:4222"], realm: "shop")).run()
/// ```
///
/// Another node receives the correlation ID, the headers, the hops (the number of routed messages that led to
/// the message), the remaining time and the cancellation of a message. Progress replies and their answers are
/// also sent. A failure keeps its code, route and module. When a node dies, the other nodes notice this
/// within three heartbeat intervals, and requests that wait for the node fail with `unreachable`. A request
/// that a handler may have received is not sent again. <doc:ScalingOut> describes the costs of a cluster and
/// the guarantees that a cluster does not give.
public final class ClusterNode: Sendable {
    /// The settings of a node.
    ///
    /// Every property has a default.
    public struct Configuration: Sendable {
        /// The name of this node, for errors and for lists of nodes.
        ///
        /// The name does not have to be unique.
        public var name = "node"

        /// The version of the program for the NATS services API, in the format of [semantic
        /// versioning](https://semver.org).
        public var version = "0.0.0"

        /// Whether the node answers the `$SRV.PING`, `INFO` and `STATS` requests of the NATS services API;
        /// true by default.
        ///
        /// Every client that the server admits may send these requests, even a client of another realm. The
        /// answers contain the shared patterns and the number of requests to each pattern.
        public var answersServiceRequests = true

        /// The interval between heartbeats; one second by default.
        ///
        /// Other nodes treat this node as dead when this node has sent nothing for two and a half intervals.
        /// An interval above one minute is shortened to one minute.
        public var heartbeatInterval = Duration.seconds(1)

        /// The time that ``ClusterNode/start()`` waits for the announcements of other nodes; 200 milliseconds
        /// by default.
        ///
        /// The node also accepts announcements that arrive later.
        public var discoveryTime = Duration.milliseconds(200)

        /// The maximum time that a leaving node waits for its unanswered requests; 5 seconds by default.
        public var drainLimit = Duration.seconds(5)

        /// The maximum number of unanswered requests from one other node; 65,536 by default.
        public var requestsPerNode = 65_536

        /// The maximum number of bytes in the unanswered requests from one other node; 64 MiB by default.
        ///
        /// A request that exceeds the limit fails with `mailboxFull`. The limit also applies to the bytes of the
        /// node's publications that some subscribers have not received yet, which are counted separately. A
        /// publication that exceeds it is dropped and logged.
        public var requestBytesPerNode = 64 << 20

        /// The maximum number of unanswered requests and events from all other nodes; 262,144 by default.
        ///
        /// This limit is needed because a client that may publish in the realm can announce any number of
        /// nodes.
        public var requestsOfNodes = 262_144

        /// The maximum number of bytes in the messages that ``requestsOfNodes`` counts; 512 MiB by default.
        ///
        /// A request that exceeds one of the two limits fails with `mailboxFull`.
        public var requestBytesOfNodes = 512 << 20

        /// The maximum number of requests, notifications and events from all clients that are not nodes;
        /// 4,096 by default.
        ///
        /// A request or notification counts until its handler has returned, and an event until it is
        /// answered. A sender counts as a node after its first announcement.
        public var requestsOfClients = 4096

        /// The maximum number of bytes in the messages that ``requestsOfClients`` counts; 64 MiB by default.
        ///
        /// A request that exceeds one of the two limits fails with `mailboxFull`.
        public var requestBytesOfClients = 64 << 20

        /// The format of publications to other nodes and to programs that are not nodes; JSON-RPC by default.
        public var publicationFormat = PublicationFormat.jsonRPC

        /// The logger of the node.
        public var logger = Logger(label: "waybill.nats")

        /// Creates a configuration with the defaults.
        public init() {}
    }

    /// Another node of the cluster, as this node sees it.
    public struct Member: Sendable, Hashable {
        /// The ID of the node in NATS subjects.
        ///
        /// The ID is different after each start of the node.
        public let id: String
        /// The configured name of the node.
        public let name: String
        /// The patterns of the routes that the node shares, sorted.
        public let routes: [String]
        /// The patterns of the publications that the node receives, sorted.
        public let topics: [String]
    }

    /// The counters of a node since its start.
    public struct Statistics: Sendable, Hashable {
        /// The requests that were passed to the transport.
        public internal(set) var sent = 0
        /// The requests that ended with a reply, or with a failure other than `unreachable`.
        public internal(set) var answered = 0
        /// The requests that failed with `unreachable`, because the node or the connection was lost.
        public internal(set) var lost = 0
        /// The requests whose caller was cancelled.
        public internal(set) var cancelled = 0
        /// The received messages that contain requests of other nodes or of clients.
        public internal(set) var received = 0
        /// The publications that were passed to the transport.
        public internal(set) var published = 0
        /// The messages on the cluster's subjects that were dropped because this node cannot read them.
        public internal(set) var malformed = 0
        /// The answers without a waiting request, the repeated publications, and this node's own publications
        /// that returned to it, all of which were dropped.
        public internal(set) var unknown = 0
        /// The requests that wait for a reply.
        public var inFlight: Int { self.sent - self.answered - self.lost - self.cancelled }
    }

    let core: ClusterCore

    /// Creates a node.
    package init(
        _ bus: MessageBus,
        realm: String,
        over transport: any ClusterTransport,
        configuration: Configuration = Configuration()
    ) {
        self.core = ClusterCore(bus, realm: realm, transport: transport, configuration: configuration)
    }

    /// Joins the cluster.
    ///
    /// Call this method to wait until the routes of other nodes can be used. ``run()`` also joins the
    /// cluster, unless this method has been called before.
    ///
    /// Always call ``run()`` as well, because only ``run()`` leaves the cluster and closes the connection.
    ///
    /// - Throws: A `RoutingError`. Its code is `unreachable` if no server can be reached, `refused` if the
    ///   server or this node's rules do not allow the connection, and `conflict` if the bus has joined a
    ///   cluster already.
    public func start() async throws { try await self.core.start() }

    /// Joins the cluster and runs until the node leaves it.
    ///
    /// The node leaves when the task is cancelled or, in a service group, at graceful shutdown. It announces
    /// its departure and receives no new requests, which other nodes then handle. It waits for its unanswered
    /// requests, for ``Configuration/drainLimit`` at most, and fails the requests that are still unanswered.
    /// If the task is cancelled, the node does not wait. A node can run once.
    ///
    /// - Throws: The errors of ``start()``; `refused` if the node is running, or has left the cluster.
    public func run() async throws { try await self.core.run() }

    /// Begins to leave the cluster.
    ///
    /// ``run()`` returns when the node has left.
    ///
    /// This method does not block and may be called from any context.
    public func beginGracefulShutdown() { self.core.beginLeaving() }

    /// The other nodes of the cluster that this node knows, sorted by name.
    public var members: [Member] {
        self.core.state.withLock { state in
            state.members.values.map { member in
                Member(
                    id: member.id.description,
                    name: member.name,
                    routes: member.routes.sorted(),
                    topics: member.topics.sorted()
                )
            }
        }.sorted { ($0.name, $0.id) < ($1.name, $1.id) }
    }

    /// The counters of the node.
    ///
    /// This property may be read from any context.
    public var statistics: Statistics { self.core.ledger.withLock { $0 } }
}
