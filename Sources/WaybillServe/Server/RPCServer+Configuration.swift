public import Logging
internal import WaybillEventLoop

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

extension RPCServer {
    /// The configuration of a server: the peers that it admits, and how much of it they may use.
    public struct Configuration: Sendable {
        /// The IDs of the users whose processes may connect to a Unix socket.
        ///
        /// By default, these are the user that the server runs as, and root, which can do anything anyway.
        /// The socket's file belongs to its owner alone (0600), so set ``permissions`` as well to admit other
        /// users.
        public var allowedUserIDs: Set<UInt32> = [geteuid(), 0]

        /// The permissions of a Unix socket's file; 0600 by default.
        public var permissions: UInt32 = 0o600

        /// The token that a peer has to send with `$/authenticate` before any other message; nil to require
        /// none.
        ///
        /// A server on TCP requires a token, unless ``admitsLoopbackWithoutToken`` is set. The token is sent
        /// without encryption: use a tunnel between machines.
        public var token: String?

        /// Whether a server on a TCP loopback address works without a token; false by default.
        ///
        /// Every process of the machine, whatever its user, may then use the exposed routes.
        public var admitsLoopbackWithoutToken = false

        /// How much a peer may use.
        public var limits = Limits()

        /// How long requests in flight may take to end when the server shuts down gracefully; 5 seconds by
        /// default.
        public var drainLimit = Duration.seconds(5)

        /// The logger for refused peers and for the causes of failures.
        ///
        /// Each cause is logged with the reference that the peer was given.
        public var logger = Logger(label: "waybill.serve")

        /// Creates a configuration with the defaults.
        public init() {}
    }

    /// The counts of a server since it was created.
    public struct Statistics: Sendable, Hashable {
        /// The number of open connections.
        public internal(set) var openConnections = 0
        /// The number of connections that the server admitted.
        public internal(set) var connections = 0
        /// The number of connections that the server rejected.
        public internal(set) var refusedConnections = 0
        /// The number of requests that the server admitted, without notifications.
        public internal(set) var requests = 0
        /// The number of requests that the server answered, with a result or an error.
        public internal(set) var answers = 0
        /// The number of requests that were cancelled because their connection closed before the answer.
        public internal(set) var abandoned = 0
        /// The number of requests that are being handled: `requests - answers - abandoned`.
        public var requestsInFlight: Int { self.requests - self.answers - self.abandoned }
    }
}
