#if NATS
public import Waybill
public import WaybillEventLoop
internal import WaybillRouting

/// A connection of a node to servers of NATS.
///
/// ```swift
/// var security = NATSTransport.Security()
/// security.credentialsFile = "/etc/shop/nats.creds"
/// security.certificateAuthorityFile = "/etc/shop/ca.pem"
/// let transport = NATSTransport(
///     servers: ["tls://nats-1.example.com:4222"], realm: "shop", security: security
/// )
/// try await bus.join(transport).run()
/// ```
///
/// It is libnats, the client in C, on a thread of its own. After a lost connection it connects again by
/// itself, to a server of the list or one that these have named; what waited for an answer fails at once. A
/// server that is neither on this machine nor reached by TLS is refused, unless ``Security/allowsPlaintext``
/// says otherwise: all that nodes say could be read and changed on the way.
public final class NATSTransport: Sendable {
    /// How a node proves to a server what it is, and the server to the node.
    public struct Security: Sendable {
        /// The user, with ``password``; they may stand in the URL of a server as well.
        public var user: String?

        /// The password of ``user``.
        public var password: String?

        /// A token, instead of a user.
        public var token: String?

        /// The public NKey, whose seed is in ``seedFile``.
        public var nKey: String?

        /// The file with the seed of ``nKey``.
        public var seedFile: String?

        /// A file with a user's JWT and seed, as `nsc` writes it.
        public var credentialsFile: String?

        /// Whether the connection has to be encrypted; it is also where a URL has the scheme `tls`.
        public var usesTLS = false

        /// A file with the certificates in PEM that the server's has to be signed with; nil for those of the
        /// system.
        public var certificateAuthorityFile: String?

        /// Files with the certificate of the node and its key in PEM, where the server asks for one.
        public var certificateFile: String?

        /// The key of ``certificateFile``.
        public var keyFile: String?

        /// Whether a server that is not on this machine is talked to without encryption; false by default.
        public var allowsPlaintext = false

        /// Makes options with the defaults: no user, no encryption.
        public init() {}
    }

    let servers: [String]
    let realm: String
    let security: Security
    let connection: NATSConnection

    /// Makes a transport, which does not connect yet.
    ///
    /// - Parameters:
    ///   - servers: the URLs of servers of one NATS cluster, `nats://` or `tls://`; they are tried in any
    ///     order.
    ///   - realm: the cluster of nodes: those of different realms do not see each other, although a server
    ///     that should keep them apart has to have accounts.
    ///   - security: who may connect, and how.
    ///   - idlePolicy: what the thread does when it has nothing to do. By default it looks for a while for
    ///     what the loop sends after a message has come: a request is answered a fifth sooner, for a fifth of
    ///     a core at most with a thousand requests a second. Choose `.park` where the core is worth more.
    public init(
        servers: [String],
        realm: String,
        security: Security = Security(),
        idlePolicy: IdlePolicy = .spin(for: .microseconds(100))
    ) {
        self.servers = servers
        self.realm = realm
        self.security = security
        self.connection = NATSConnection(servers, security, Subjects(realm: realm), idlePolicy)
    }
}

extension MessageBus {
    /// Makes the bus a node of a cluster, which joins it when the node is run.
    ///
    /// - Parameters:
    ///   - transport: connects the nodes; it belongs to this one alone.
    ///   - configuration: how the node behaves.
    /// - Returns: the node, as a service.
    public func join(
        _ transport: NATSTransport,
        configuration: ClusterNode.Configuration = ClusterNode.Configuration()
    ) -> ClusterNode {
        ClusterNode(self, realm: transport.realm, over: transport.connection, configuration: configuration)
    }
}
#endif
