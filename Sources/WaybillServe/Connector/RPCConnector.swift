public import Logging
public import Waybill
public import WaybillEventLoop
internal import WaybillRouting

/// A connector that sends the messages for the URLs of one scheme to another process.
///
/// The other process handles the messages with an ``RPCServer``.
///
/// ```swift
/// try bus.connect("billing", to: RPCConnector(.unix("/run/billing.sock")))
/// let invoice: Invoice = try await bus.route("billing://invoice/7")
/// ```
///
/// All requests share one connection, which the first request opens. When the connection is lost, the
/// requests that wait for a reply fail with `unreachable`, and the next request connects again. After a
/// failed attempt to connect, requests wait for the next attempt, for at most ``Configuration/longestPause``.
///
/// Parameters and replies are sent as JSON. A value must be `Encodable`. The other side decodes the value
/// when code reads it as a type. If a value is not `Encodable`, the message fails with `notTransferable`
/// before a byte is sent. The headers, the remaining time and the hops (the number of routed messages that
/// led to the message) are sent with the values. When the caller is cancelled, the handler is cancelled as
/// well. Progress replies and their answers are also sent. If the message has a return URL, the server sends
/// the value for the return URL to this process, which routes the value.
///
/// A failure has the code that the bus of the other process has assigned. The message of the failure does not
/// reveal details of that process. If the message contains a reference, the log of the server contains the
/// cause of the failure with the same reference.
public final class RPCConnector: Connector {
    /// The configuration of a connector.
    public struct Configuration: Sendable {
        /// The token to send with `$/authenticate`; nil to send no token.
        public var token: String?

        /// The maximum time to connect, and then for the reply to the token; 5 seconds by default.
        public var connectTimeout = Duration.seconds(5)

        /// The length of the first pause after a failed attempt to connect; 20 milliseconds by default.
        ///
        /// The length doubles with every failure, and each pause is shortened by a random part.
        public var firstPause = Duration.milliseconds(20)

        /// The longest pause between two attempts; 2 seconds by default.
        public var longestPause = Duration.seconds(2)

        /// The time without a byte from the server after which the connector sends a ping; 10 seconds by
        /// default.
        ///
        /// If the value is nil, the connector sends no pings. The connector sends a ping only while requests
        /// wait for a reply. If the server sends nothing for the same time again, the connector closes the
        /// connection.
        public var pingInterval: Duration? = .seconds(10)

        /// The maximum size of a message from the server, in bytes; 16 MiB by default.
        public var frameSize = 16 << 20

        /// The maximum size of a message to the server, in bytes; 1 MiB by default.
        ///
        /// A longer request fails with `notTransferable` before it is sent. The server would close the
        /// connection, which all requests share. The limit must not be higher than
        /// ``RPCServer/Limits/frameSize`` of the server.
        public var requestSize = 1 << 20

        /// The maximum number of bytes that wait because the server does not read them; 8 MiB by default.
        ///
        /// If more bytes wait, further requests fail with `mailboxFull` before they are sent.
        public var unsentBytes = 8 << 20

        /// The logger for lost connections and for errors of the server that belong to no request.
        public var logger = Logger(label: "waybill.serve.connector")

        /// Creates a configuration with the defaults.
        public init() {}
    }

    let address: StreamAddress
    let configuration: Configuration
    private let client = Locked<RPCClient?>(nil)

    /// Creates a connector, which connects when the first message is sent.
    ///
    /// - Parameters:
    ///   - address: The address at which the server listens.
    ///   - configuration: The settings of the connector.
    public init(_ address: StreamAddress, configuration: Configuration = Configuration()) {
        self.address = address
        self.configuration = configuration
    }

    deinit { self.client.withLock { $0 }?.close() }

    /// Sends a message to the server, and waits for the reply.
    public nonisolated(nonsending) func route(_ message: Message) async throws -> any Sendable {
        let client = self.client.withLock { client in
            // `route` runs on the loop of the connector's bus, so the client uses that loop.
            let made = client ?? RPCClient(self.address, self.configuration, on: .current)
            client = made
            return made
        }
        return try await client.route(message)
    }
}
