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

        /// What a peer has to send with `$/authenticate` before anything else; nil for nothing.
        ///
        /// A server on TCP needs one, unless ``admitsLoopbackWithoutToken`` says otherwise. The token goes
        /// over the connection as it is: between machines, tunnel it.
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

        /// Makes a configuration with the defaults.
        public init() {}
    }

    /// How much a peer of a server may use.
    ///
    /// What exceeds a limit is answered with an error; where it cannot be, the connection is closed.
    public struct Limits: Sendable {
        /// The most bytes of a message; 1 MiB by default.
        ///
        /// A longer one closes the connection.
        public var frameSize = 1 << 20

        /// How deep arrays and objects may be nested; 64 by default.
        public var depth = 64

        /// The most requests in flight on a connection, which a batch counts one by one; 1,024 by default.
        public var requestsInFlight = 1024

        /// The most subscriptions of a connection; 64 by default.
        public var subscriptions = 64

        /// How many messages wait for a subscriber that does not read; 256 by default.
        ///
        /// Older ones are dropped.
        public var messagesPerSubscription = 256

        /// The most requests and notifications per second of a connection; 100,000 by default.
        ///
        /// A peer that sends more is read more slowly.
        public var requestsPerSecond = 100_000

        /// The most connections; 10,000 by default.
        ///
        /// Another one is told so, and closed.
        public var connections = 10_000

        /// How long a connection may be open without a request in flight, without a subscription and without
        /// receiving a byte; 10 minutes by default, nil for as long as it likes.
        public var idleTime: Duration? = .seconds(600)

        /// How long a message may take to arrive, from its first byte on, and how long a connection may take
        /// to send its first message or its token; 10 seconds by default.
        public var messageTime = Duration.seconds(10)

        /// How long a peer may take nothing of what waits for it; 30 seconds by default.
        ///
        /// The connection is closed then. A peer that reads slowly may take as long as it likes for the whole.
        public var stallTime = Duration.seconds(30)

        /// Makes limits with the defaults.
        public init() {}
    }

    /// What a server has done so far.
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
