#if NATS
public import Waybill
public import WaybillEventLoop
internal import WaybillRouting

/// A node's connection to NATS servers.
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
/// The transport uses libnats, the C client, on its own thread. After a lost connection it reconnects to a
/// configured server or to a server that one of those has named. Requests that wait for an answer fail at
/// once. A server that is neither on this machine nor reached by TLS is rejected unless
/// ``Security/allowsPlaintext`` is set, because messages could be read and changed on the way.
public final class NATSTransport: Sendable {
    /// The credentials with which a node and a server identify themselves to each other, and the encryption.
    public struct Security: Sendable {
        /// The user, with ``password``.
        ///
        /// Both may also be part of a server's URL.
        public var user: String?

        /// The password of ``user``.
        public var password: String?

        /// A token, instead of a user.
        public var token: String?

        /// The public NKey.
        ///
        /// ``seedFile`` contains its seed.
        public var nKey: String?

        /// The file that contains the seed of ``nKey``.
        public var seedFile: String?

        /// A file with the JWT and the seed of a user, as `nsc` writes it.
        public var credentialsFile: String?

        /// Whether the connection must be encrypted.
        ///
        /// A server URL with the scheme `tls` has the same effect.
        public var usesTLS = false

        /// A file with the PEM certificates of the authorities that may sign the server's certificate; nil
        /// for the system's authorities.
        public var certificateAuthorityFile: String?

        /// A file with the PEM certificate of the node, for servers that ask for one.
        public var certificateFile: String?

        /// A file with the PEM key of ``certificateFile``.
        public var keyFile: String?

        /// Whether to connect without encryption to a server that is not on this machine; false by default.
        public var allowsPlaintext = false

        /// Creates options with the defaults: no user and no encryption.
        public init() {}
    }

    let servers: [String]
    let realm: String
    let security: Security
    let connection: NATSConnection

    /// Creates a transport, which does not connect yet.
    ///
    /// - Parameters:
    ///   - servers: The URLs of servers of one NATS cluster, `nats://` or `tls://`. They are tried in any
    ///     order.
    ///   - realm: The name of the node cluster. Nodes of different realms do not see each other. Accounts of
    ///     NATS are needed to enforce the separation.
    ///   - security: The credentials and the encryption.
    ///   - idlePolicy: The behaviour of the idle thread. By default it polls for a while for messages of the
    ///     loop after a message has arrived. A request is then answered a fifth sooner, and with a thousand
    ///     requests a second the thread uses a fifth of a core at most. Choose `.park` where the core is more
    ///     valuable.
    public init(
        servers: [String],
        realm: String,
        security: Security = Security(),
        idlePolicy: IdlePolicy = .spin(for: .microseconds(100))
    ) {
        self.servers = servers
        self.realm = realm
        self.security = security
        self.connection = NATSConnection(
            servers,
            security: security,
            subjects: Subjects(realm: realm),
            idlePolicy: idlePolicy
        )
    }
}

extension MessageBus {
    /// Creates a node for this bus.
    ///
    /// The bus joins the cluster when the node runs.
    ///
    /// - Parameters:
    ///   - transport: The transport to the other nodes. Only this node may use it.
    ///   - configuration: The settings of the node.
    /// - Returns: The node, which is a service.
    public func join(
        _ transport: NATSTransport,
        configuration: ClusterNode.Configuration = ClusterNode.Configuration()
    ) -> ClusterNode {
        ClusterNode(self, realm: transport.realm, over: transport.connection, configuration: configuration)
    }
}
#endif
