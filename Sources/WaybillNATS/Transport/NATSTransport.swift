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
/// The transport uses libnats, the C client of NATS, on its own thread. After a lost connection, it
/// reconnects to a configured server or to a server that one of the configured servers has reported. Requests
/// that wait for an answer fail when the connection is lost. A server must be on this machine or use TLS,
/// because others could otherwise read and change the messages. ``Security/allowsPlaintext`` turns this check
/// off.
public final class NATSTransport: Sendable {
    /// The credentials of the node, and the settings of the encryption.
    public struct Security: Sendable {
        /// The user, with ``password``.
        ///
        /// Both may also be part of a server's URL.
        public var user: String?

        /// The password of ``user``.
        public var password: String?

        /// A token that is used instead of a user.
        public var token: String?

        /// The public NKey of the node.
        ///
        /// The file ``seedFile`` contains the seed of the key.
        public var nKey: String?

        /// The file that contains the seed of ``nKey``.
        public var seedFile: String?

        /// A file with the JWT and the seed of a user, in the format of the `nsc` command.
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
    ///   - realm: The name of the cluster of nodes. Nodes of different realms do not receive each other's
    ///     messages. To enforce this separation, use different NATS accounts.
    ///   - security: The credentials and the encryption.
    ///   - idlePolicy: The policy of the transport's thread while it has no work. By default, the thread
    ///     polls for 100 microseconds after the last work. Requests are then answered in a fifth less time.
    ///     With a thousand requests a second, the thread uses at most a fifth of a core. Choose `.park` to
    ///     use less of the core.
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
    /// The bus joins the cluster when the node is started or run.
    ///
    /// - Parameters:
    ///   - transport: The transport to the other nodes. Only this node may use it.
    ///   - configuration: The settings of the node.
    /// - Returns: The node. Run it as a service.
    public func join(
        _ transport: NATSTransport,
        configuration: ClusterNode.Configuration = ClusterNode.Configuration()
    ) -> ClusterNode {
        ClusterNode(self, realm: transport.realm, over: transport.connection, configuration: configuration)
    }
}
#endif
