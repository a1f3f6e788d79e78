public import Logging
package import Waybill
internal import WaybillEventLoop
internal import WaybillRouting

/// A bus as a node of a cluster: what other nodes share is routed to them, and what this one shares is
/// handled here for them.
///
/// Make one with `bus.join(_:)`, and run it as a service of swift-service-lifecycle, named after the bus.
/// While it runs, a URL that neither a route nor the connector of its scheme takes goes to a node that shares
/// a pattern for it; no call changes:
///
/// ```swift
/// try bus.share("app://billing/**")
/// try await bus.join(NATSTransport(servers: ["nats://127.0.0.1:4222"], realm: "shop")).run()
/// ```
///
/// What is true of a message stays true: correlation ID, headers, hops, the time that is left, cancellation,
/// progress replies with their answers, and the failure with code, route and module. A node that dies is
/// noticed within three seconds, and what waits for it fails with `unreachable`; nothing is repeated
/// silently. <doc:ScalingOut> says what changes in time, and what is not promised.
public final class ClusterNode: Sendable {
    /// How a node behaves; everything has a default.
    public struct Configuration: Sendable {
        /// What other nodes call this one in errors and lists; it need not be unique.
        public var name = "node"

        /// The version of the program, as [semantic versioning](https://semver.org) has it, for the services
        /// API of NATS.
        public var version = "0.0.0"

        /// Whether the node answers what the services API of NATS asks, `$SRV.PING`, `INFO` and `STATS`; true
        /// by default.
        ///
        /// Every client that the server admits may ask, of whatever realm, and learns the patterns that are
        /// shared and how often they were called.
        public var answersServiceRequests = true

        /// How often the node says that it lives; one second by default.
        ///
        /// The others take it for dead when it has been silent for two and a half times as long. It is at
        /// most a minute.
        public var heartbeatInterval = Duration.seconds(1)

        /// How long joining waits for what the other nodes share; 200 milliseconds by default.
        ///
        /// What is said later is learned all the same.
        public var discoveryTime = Duration.milliseconds(200)

        /// How long requests in flight may take to end when the node leaves; 5 seconds by default.
        public var drainLimit = Duration.seconds(5)

        /// The most requests of one other node that are handled at the same time; 65,536 by default.
        public var requestsPerNode = 65_536

        /// The most requests and events of clients that are not nodes, all of them together, that are handled at
        /// the same time; 4,096 by default.
        ///
        /// A sender is a node from its first `hello` on.
        public var requestsOfClients = 4096

        /// The most bytes of the messages of those requests and events; 64 MiB by default.
        ///
        /// A request beyond either limit is answered with `mailboxFull`.
        public var requestBytesOfClients = 64 << 20

        /// How publications travel to other nodes, and to programs that are none; JSON-RPC by default.
        public var publicationFormat = PublicationFormat.jsonRPC

        /// Where the node logs.
        public var logger = Logger(label: "waybill.nats")

        /// Makes a configuration with the defaults.
        public init() {}
    }

    /// Another node of the cluster, as this one knows it.
    public struct Member: Sendable, Hashable {
        /// What the node has in subjects of NATS; new with each start.
        public let id: String
        /// What the node calls itself.
        public let name: String
        /// The patterns of the routes that it shares, sorted.
        public let routes: [String]
        /// The patterns of the publications that it takes, sorted.
        public let topics: [String]
    }

    /// What a node has done so far.
    public struct Statistics: Sendable, Hashable {
        /// Requests that were handed over to the transport.
        public internal(set) var sent = 0
        /// Those that ended with a reply or a failure of the node that had them.
        public internal(set) var answered = 0
        /// Those that were lost: their node died, or the connection did.
        public internal(set) var lost = 0
        /// Those whose caller stopped waiting.
        public internal(set) var cancelled = 0
        /// Requests of other nodes that came.
        public internal(set) var received = 0
        /// Publications that were handed over to the transport.
        public internal(set) var published = 0
        /// Messages on the cluster's subjects that cannot be read, and were dropped.
        public internal(set) var malformed = 0
        /// Answers to requests that this node does not wait for, and publications that came twice; dropped.
        public internal(set) var unknown = 0
        /// Requests that wait for a reply.
        public var inFlight: Int { self.sent - self.answered - self.lost - self.cancelled }
    }

    let core: ClusterCore

    /// Makes a node.
    package init(
        _ bus: MessageBus,
        realm: String,
        over transport: any ClusterTransport,
        configuration: Configuration = Configuration()
    ) {
        self.core = ClusterCore(bus, realm, transport, configuration)
    }

    /// Joins the cluster; ``run()`` does so itself if it has not been called.
    ///
    /// For code that needs to know when the routes of other nodes can be used.
    ///
    /// - Throws: a `RoutingError` with the code `unreachable` if there is no server, `refused` if the server
    ///   or this node's rules do not allow the connection, `conflict` if the bus has joined a cluster
    ///   already.
    public func start() async throws { try await self.core.start() }

    /// Is a node of the cluster until the task is cancelled or, in a service group, until graceful shutdown.
    ///
    /// At graceful shutdown the node tells the others that it leaves, takes no more requests, and waits for
    /// those in flight, for ``Configuration/drainLimit`` at most: other instances go on, and nothing is lost.
    /// It may run once.
    ///
    /// - Throws: what ``start()`` throws.
    public func run() async throws { try await self.core.run() }

    /// Has the node leave; ``run()`` returns when it has.
    ///
    /// May be called from any context, and does not wait.
    public func beginGracefulShutdown() { self.core.beginLeaving() }

    /// The other nodes of the cluster, as far as this one knows, sorted by name.
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

    /// What the node has done so far.
    ///
    /// May be read from any context.
    public var statistics: Statistics { self.core.ledger.withLock { $0 } }
}
