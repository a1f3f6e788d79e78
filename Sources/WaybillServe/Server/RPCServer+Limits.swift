extension RPCServer {
    /// The limits on the resources of a server that its peers may use.
    ///
    /// The server answers a request that exceeds a limit with an error. If the server cannot do that, it
    /// closes the connection.
    public struct Limits: Sendable {
        /// The maximum size of a message, in bytes; 1 MiB by default.
        ///
        /// The server closes the connection of a peer that sends a longer message. Before a peer has sent its
        /// token, the limit is 4,096 bytes.
        public var frameSize = 1 << 20

        /// The maximum depth of nested arrays and objects; 64 by default.
        public var depth = 64

        /// The maximum number of messages in a batch; 128 by default.
        public var messagesPerBatch = 128

        /// The maximum size of the answers to the unfinished batches of a connection, in bytes; 4 MiB by
        /// default.
        ///
        /// An error replaces each further answer of these batches. If the answers to rejected messages alone
        /// exceed the limit, the connection ends.
        public var batchAnswerBytes = 4 << 20

        /// The maximum number of unanswered requests of a connection; 1,024 by default.
        ///
        /// Each request of a batch counts.
        public var requestsInFlight = 1024

        /// The maximum size of the unanswered requests of a connection, in bytes; 8 MiB by default.
        public var requestBytesInFlight = 8 << 20

        /// The maximum size of the requests, notifications and partial messages that the server keeps in
        /// memory for all connections together, in bytes; 128 MiB by default.
        ///
        /// Above the limit, the server answers a request with an error, drops a notification, and disconnects
        /// the sender of a partial message. A connection may always use 4,096 bytes.
        public var requestBytesOfAll = 128 << 20

        /// The number of calls that a connection may always run at the same time; 4 by default.
        ///
        /// Requests and notifications are calls. A call runs until its handler has returned, even if its
        /// deadline has passed or its peer has disconnected.
        public var guaranteedCalls = 4

        /// The number of further calls that may run at the same time, for all connections together; 256 by
        /// default.
        ///
        /// Other calls wait in the server, and the connections take turns.
        public var sharedCalls = 256

        /// The maximum number of waiting calls and messages of all connections; 32,768 by default.
        ///
        /// The server answers a call that exceeds the limit with an error.
        public var waitingCallsOfAll = 32_768

        /// The number of unread bytes above which the server does not handle the next message of a peer; 256
        /// KiB by default.
        public var unreadBytes = 256 << 10

        /// The maximum number of unread bytes of all peers together; 64 MiB by default.
        ///
        /// Above the limit, the server closes connections. It first closes the connections of peers that have
        /// not read for a second, and then the connections with the most unread bytes. An error replaces a
        /// single answer of more than half of the limit.
        public var unreadBytesOfAll = 64 << 20

        /// The maximum number of subscriptions of a connection; 64 by default.
        public var subscriptions = 64

        /// The maximum number of subscriptions of all connections together; 16,384 by default.
        public var subscriptionsOfAll = 16_384

        /// The maximum number of messages that wait for a slow subscriber; 256 by default.
        ///
        /// Above the limit, the server drops the oldest messages.
        public var messagesPerSubscription = 256

        /// The maximum memory of the messages that wait for the subscriptions of one connection, in bytes; 4
        /// MiB by default.
        ///
        /// Above the limit, the server drops the oldest messages of the subscription. A message that waits
        /// alone may be larger.
        public var subscriptionBytes = 4 << 20

        /// The maximum memory of the messages that wait for the subscriptions of all connections together, in
        /// bytes; 64 MiB by default.
        ///
        /// Above the limit, the server drops the oldest messages of the subscription that gets a message.
        public var subscriptionBytesOfAll = 64 << 20

        /// The maximum number of requests and notifications of a connection per second; 100,000 by default.
        ///
        /// If a peer sends faster, the server reads more slowly. Each message of a batch or a `$/publish`
        /// counts.
        public var requestsPerSecond = 100_000

        /// The maximum number of connections; 10,000 by default.
        ///
        /// The server leaves a quarter of the file descriptors that the system permits the process
        /// (`ulimit -n`), but at most 256, to the program. A server does not know the connections of other
        /// servers in the process. If the limit is reached, the server sends an error to the next peer and
        /// closes its connection. Running calls of closed connections that exceed ``sharedCalls`` count as
        /// connections, each of which has ``guaranteedCalls``.
        public var connections = 10_000

        /// The time after which the server closes an idle connection; 10 minutes by default, nil for no
        /// limit.
        ///
        /// A connection is idle if it has no unanswered request and no subscription, and receives no bytes.
        public var idleTime: Duration? = .seconds(600)

        /// The time limit for a message, and for the first message or the token of a connection; 10 seconds
        /// by default.
        ///
        /// The time limit for a message begins with its first byte. The time in which the server does not
        /// read, because the peer has not read its answers, does not count.
        public var messageTime = Duration.seconds(10)

        /// The maximum time in which a peer reads none of the bytes that wait for it; 30 seconds by default.
        ///
        /// After this time, the server closes the connection. A slow peer is not disconnected if the system
        /// reports that it reads. Linux reports this at the latest after 40,000 bytes on a Unix socket, and
        /// after about 130,000 bytes over the loopback interface.
        public var stallTime = Duration.seconds(30)

        /// Creates limits with the defaults.
        public init() {}

        /// Returns the maximum number of connections of a process that may have a number of descriptors.
        ///
        /// The process needs other descriptors, for example for files. If the connections took all of them,
        /// the server could neither accept a connection nor close another connection in its favor.
        func connections(ofDescriptors descriptors: Int) -> Int {
            min(self.connections, max(1, descriptors - min(descriptors / 4, 256)))
        }
    }
}
