public import Logging
package import Waybill
internal import WaybillEventLoop
internal import WaybillRouting

/// A bus as a node of a cluster.
///
/// It sends messages for the routes of other nodes to those nodes, and handles their messages for the routes
/// that it shares.
///
/// Create a node with `bus.join(_:)`. Run it as a service of swift-service-lifecycle that is listed after the
/// bus. While it runs, a URL that matches neither a route nor the scheme of a connector is sent to a node
/// that shares a matching pattern. Calls do not change:
///
/// ```swift
/// try bus.share("app://billing/**")
/// try await bus.join(NATSTransport(servers: ["nats://127.0.0.1:4222"], realm: "shop")).run()
/// ```
///
/// A message keeps its correlation ID, headers, hops, remaining time, cancellation, progress replies with
/// their answers, and the code, route and module of a failure. When a node dies, the other nodes notice
/// within three seconds, and requests that wait for it fail with `unreachable`. Requests are not repeated
/// silently. <doc:ScalingOut> describes the costs of a cluster and the guarantees that it does not give.
public final class ClusterNode: Sendable {
    /// The settings of a node.
    ///
    /// Every property has a default.
    public struct Configuration: Sendable {
        /// The name of this node in errors and lists of other nodes.
        ///
        /// It need not be unique.
        public var name = "node"

        /// The version of the program for the NATS services API, in the format of [semantic
        /// versioning](https://semver.org).
        public var version = "0.0.0"

        /// Whether the node answers the `$SRV.PING`, `INFO` and `STATS` requests of the NATS services API;
        /// true by default.
        ///
        /// Every client that the server admits may send these requests, whatever its realm. The answers tell
        /// it the shared patterns and how often each was called.
        public var answersServiceRequests = true

        /// The interval between heartbeats; one second by default.
        ///
        /// Other nodes treat this node as dead when it has been silent for two and a half intervals. An
        /// interval above one minute is shortened to one minute.
        public var heartbeatInterval = Duration.seconds(1)

        /// The time that joining waits for the announcements of other nodes; 200 milliseconds by default.
        ///
        /// Announcements that arrive later are also accepted.
        public var discoveryTime = Duration.milliseconds(200)

        /// The time limit for requests in flight when the node leaves; 5 seconds by default.
        public var drainLimit = Duration.seconds(5)

        /// The most requests of one other node in flight at the same time; 65,536 by default.
        public var requestsPerNode = 65_536

        /// The most requests and events of all other nodes in flight at the same time; 262,144 by default.
        ///
        /// Whoever may publish to the subjects of the realm can announce any number of nodes.
        public var requestsOfNodes = 262_144

        /// The most bytes of the messages that ``requestsOfNodes`` limits; 512 MiB by default.
        ///
        /// A request beyond one of the limits fails with `mailboxFull`.
        public var requestBytesOfNodes = 512 << 20

        /// The most requests and events in flight at the same time of all clients that are not nodes; 4,096
        /// by default.
        ///
        /// A sender counts as a node after its first announcement.
        public var requestsOfClients = 4096

        /// The most bytes of the messages that ``requestsOfClients`` limits; 64 MiB by default.
        ///
        /// A request beyond either limit fails with `mailboxFull`.
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
        /// It is new at each start of the node.
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
        /// Requests that were passed to the transport.
        public internal(set) var sent = 0
        /// Requests that ended with a reply, or with a failure other than `unreachable`.
        public internal(set) var answered = 0
        /// Requests that failed with `unreachable`, because the node or the connection was lost.
        public internal(set) var lost = 0
        /// Requests whose caller was cancelled.
        public internal(set) var cancelled = 0
        /// Messages with requests of other nodes and of clients that have arrived.
        public internal(set) var received = 0
        /// Publications that were passed to the transport.
        public internal(set) var published = 0
        /// Messages on the cluster's subjects that were dropped because they cannot be read.
        public internal(set) var malformed = 0
        /// Dropped messages: answers to requests that this node does not wait for, and publications that came
        /// twice.
        public internal(set) var unknown = 0
        /// Requests that wait for a reply.
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
    /// ``run()`` joins it as well, unless this method has been called.
    ///
    /// Call this method to know when the routes of other nodes can be used.
    ///
    /// - Throws: A `RoutingError`. Its code is `unreachable` if no server can be reached, `refused` if the
    ///   server or this node's rules do not allow the connection, and `conflict` if the bus has joined a
    ///   cluster already.
    public func start() async throws { try await self.core.start() }

    /// Joins the cluster and runs until the task is cancelled or, in a service group, until graceful
    /// shutdown.
    ///
    /// At graceful shutdown the node announces its departure and stops receiving new requests, which go to
    /// other instances. It waits for the requests in flight, for ``Configuration/drainLimit`` at most, and
    /// fails the others. A node can run once.
    ///
    /// - Throws: The errors of ``start()``.
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
