public import Logging
internal import WaybillEventLoop

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

extension RPCServer {
    /// The configuration of a server: the peers that may connect, and the resources that they may use.
    public struct Configuration: Sendable {
        /// The IDs of the users whose processes may connect to a Unix socket.
        ///
        /// By default, these are the user of the server's process, and root, which could access the socket
        /// anyway. With the default ``permissions``, only the owner can open the socket's file (0600), so
        /// also change that property to admit other users.
        public var allowedUserIDs: Set<UInt32> = [geteuid(), 0]

        /// The permissions of a Unix socket's file; 0600 by default.
        public var permissions: UInt32 = 0o600

        /// The token that a peer has to send with `$/authenticate` before any other message.
        ///
        /// If the value is nil, peers need no token. A server on TCP requires a token, unless
        /// ``admitsLoopbackWithoutToken`` is set. The token is sent without encryption, so use an encrypted
        /// tunnel between machines.
        public var token: String?

        /// Whether a server on a TCP loopback address may run without a token; false by default.
        ///
        /// If the value is true, every process of the machine may use the exposed routes, even the processes
        /// of other users.
        public var admitsLoopbackWithoutToken = false

        /// The limits on the resources that a peer may use.
        public var limits = Limits()

        /// The maximum time that the server waits for its unanswered requests at graceful shutdown; 5 seconds
        /// by default.
        public var drainLimit = Duration.seconds(5)

        /// The logger for rejected peers and for the causes of failures.
        ///
        /// Each cause is logged with a reference, which the peer also receives.
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
        /// The number of requests whose connection closed before the answer, so that they were cancelled.
        public internal(set) var abandoned = 0
        /// The number of requests that are being handled: `requests - answers - abandoned`.
        public var requestsInFlight: Int { self.requests - self.answers - self.abandoned }
    }
}
