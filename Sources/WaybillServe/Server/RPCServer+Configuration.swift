public import Logging
internal import WaybillEventLoop

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

extension RPCServer {
    /// Which peers a server admits, and how much of it they may use; everything has a default.
    public struct Configuration: Sendable {
        /// The users whose processes may connect to a Unix socket, by ID: by default the one that the server
        /// runs as, and root, which may do anything anyway.
        ///
        /// The file is its owner's alone (0600) as well, so to admit others set ``permissions`` too.
        public var allowedUserIDs: Set<UInt32> = [geteuid(), 0]

        /// The permissions of a Unix socket's file; 0600 by default.
        public var permissions: UInt32 = 0o600

        /// The token that a peer must send with `$/authenticate` before any other message; nil for none.
        ///
        /// A server on TCP needs a token, unless ``admitsLoopbackWithoutToken`` is set and the address is a
        /// loopback address. The token is sent without encryption. Use a tunnel between machines.
        public var token: String?

        /// Whether a server on a loopback address of TCP does without a token: every process of the machine,
        /// whatever its user, may then use what is exposed.
        ///
        /// False by default.
        public var admitsLoopbackWithoutToken = false

        /// How much a peer may use.
        public var limits = Limits()

        /// How long requests in flight may take to end when the server shuts down gracefully; 5 seconds by
        /// default.
        public var drainLimit = Duration.seconds(5)

        /// Where the server logs: peers that are turned away, and the causes of failures, with the reference
        /// that the peer was given.
        public var logger = Logger(label: "waybill.serve")

        /// Creates a configuration with the defaults.
        public init() {}
    }

    /// The counters of a server.
    public struct Statistics: Sendable, Hashable {
        /// Connections that are open.
        public internal(set) var openConnections = 0
        /// Connections that were admitted.
        public internal(set) var connections = 0
        /// Connections that were turned away.
        public internal(set) var refusedConnections = 0
        /// Requests that were accepted, apart from notifications.
        public internal(set) var requests = 0
        /// Requests that were answered, with a result or an error.
        public internal(set) var answers = 0
        /// Requests whose connection was closed before they were answered; they were cancelled.
        public internal(set) var abandoned = 0
        /// Requests that are being handled: always `requests - answers - abandoned`.
        public var requestsInFlight: Int { self.requests - self.answers - self.abandoned }
    }
}
