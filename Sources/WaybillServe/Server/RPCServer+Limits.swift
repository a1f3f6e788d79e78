extension RPCServer {
    /// How much of a server its peers may use.
    ///
    /// A request that exceeds a limit is answered with an error. When that is not possible, the connection is
    /// closed.
    public struct Limits: Sendable {
        /// The maximum size of a message, in bytes; 1 MiB by default.
        ///
        /// A longer message closes the connection. Before a peer has sent its token, a message may have
        /// 4,096 bytes.
        public var frameSize = 1 << 20

        /// The maximum depth of nested arrays and objects; 64 by default.
        public var depth = 64

        /// The maximum number of messages in a batch; 128 by default.
        public var messagesPerBatch = 128

        /// The maximum size of the answers to the open batches of a connection, in bytes; 4 MiB by default.
        ///
        /// Further answers of these batches are replaced by an error.
        public var batchAnswerBytes = 4 << 20

        /// The maximum number of requests of a connection that are in flight; 1,024 by default.
        ///
        /// Each request of a batch counts.
        public var requestsInFlight = 1024

        /// The maximum size of the requests of a connection that are in flight, in bytes; 8 MiB by default.
        public var requestBytesInFlight = 8 << 20

        /// The maximum size of the requests, notifications and partial messages that the server keeps in
        /// memory for all connections together, in bytes; 128 MiB by default.
        ///
        /// Above the limit, a request is answered with an error, a notification is dropped, and the sender
        /// of a partial message is disconnected. A connection may always have 4,096 bytes.
        public var requestBytesOfAll = 128 << 20

        /// The number of calls of a connection that always run at once; 4 by default.
        public var guaranteedCalls = 4

        /// The number of further calls of all connections together that run at once; 256 by default.
        ///
        /// Calls beyond this number wait in the server, and the connections take turns.
        public var sharedCalls = 256

        /// The maximum number of calls and messages of all connections that wait for their turns; 32,768 by
        /// default.
        ///
        /// A call that would exceed the limit is answered with an error.
        public var waitingCallsOfAll = 32_768

        /// The number of bytes that may wait for a peer before its next message is handled; 256 KiB by
        /// default.
        public var unreadBytes = 256 << 10

        /// The maximum number of bytes that may wait for all peers together; 64 MiB by default.
        ///
        /// Above the limit, the server closes connections. It begins with peers that have not read for a
        /// second, and closes the connection with the most unread bytes first. A single answer of more than
        /// half of the limit is replaced by an error.
        public var unreadBytesOfAll = 64 << 20

        /// The maximum number of subscriptions of a connection; 64 by default.
        public var subscriptions = 64

        /// The maximum number of subscriptions of all connections together; 16,384 by default.
        public var subscriptionsOfAll = 16_384

        /// The number of messages that wait for a subscriber that does not read; 256 by default.
        ///
        /// When more messages wait, the oldest are dropped.
        public var messagesPerSubscription = 256

        /// The maximum number of requests and notifications of a connection per second; 100,000 by default.
        ///
        /// A faster peer is read more slowly. Each message of a batch and of a `$/publish` counts.
        public var requestsPerSecond = 100_000

        /// The maximum number of connections; 10,000 by default.
        ///
        /// The server sends a further peer an error, and closes its connection.
        public var connections = 10_000

        /// How long a connection may be open without a request in flight, without a subscription and without
        /// receiving a byte; 10 minutes by default, nil for any time.
        public var idleTime: Duration? = .seconds(600)

        /// How long the server waits for the rest of a message after its first byte, and how long a
        /// connection may take to send its first message or its token; 10 seconds by default.
        ///
        /// Time in which the server does not read, since the peer has not read its answers, is not included.
        public var messageTime = Duration.seconds(10)

        /// How long a peer may take none of the bytes that wait for it; 30 seconds by default.
        ///
        /// After this time, the server closes the connection. A peer that reads slowly, but without such a
        /// pause, is not disconnected.
        public var stallTime = Duration.seconds(30)

        /// Creates limits with the defaults.
        public init() {}
    }
}
