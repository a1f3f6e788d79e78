public import Logging
public import Waybill
public import WaybillEventLoop
internal import WaybillRouting

/// A connector that delivers the URLs of a scheme to another process with an ``RPCServer``.
///
/// ```swift
/// try bus.connect("billing", to: RPCConnector(.unix("/run/billing.sock")))
/// let invoice: Invoice = try await bus.route("billing://invoice/7")
/// ```
///
/// All requests share one connection, which the first request opens. When the connection is lost, the
/// requests in flight fail with `unreachable` immediately, and the next request connects again. After a
/// failed attempt, requests wait for the next attempt, at most ``Configuration/longestPause``.
///
/// Parameters and replies travel as JSON. A value must be `Encodable`, and is decoded when it is read as a
/// type. A value that cannot be encoded fails with `notTransferable` before a byte is sent. Headers, the
/// remaining time and the number of hops travel with the request. Cancelling the caller cancels the handler.
/// Progress replies and their answers travel. The value for a return URL comes back, and this process routes
/// it.
///
/// A failure has the code of the other process's bus. Its message does not reveal the inside of that process.
/// If it has a reference, the log of the server has the cause.
public final class RPCConnector: Connector {
    /// How a connector connects.
    public struct Configuration: Sendable {
        /// The token for `$/authenticate`; nil when the server needs none.
        public var token: String?

        /// How long connecting may take; 5 seconds by default.
        public var connectTimeout = Duration.seconds(5)

        /// How long the first pause after a failed attempt is; 20 milliseconds by default.
        ///
        /// It doubles with every failure, and a random part of it is left out.
        public var firstPause = Duration.milliseconds(20)

        /// The longest pause between two attempts; 2 seconds by default.
        public var longestPause = Duration.seconds(2)

        /// How long a server may be silent while requests are in flight before it is asked for a sign of
        /// life; 10 seconds by default, nil for ever.
        ///
        /// As long again without one, and the connection is lost.
        public var pingInterval: Duration? = .seconds(10)

        /// The most bytes of a message from the server; 16 MiB by default.
        public var frameSize = 16 << 20

        /// Where the connector logs connections that are lost.
        public var logger = Logger(label: "waybill.serve.connector")

        /// Creates a configuration with the defaults.
        public init() {}
    }

    private let address: StreamAddress
    private let configuration: Configuration
    private let client = Locked<RPCClient?>(nil)

    /// Creates a connector, which connects when the first message comes.
    ///
    /// - Parameters:
    ///   - address: Where the server listens.
    ///   - configuration: How to connect.
    public init(_ address: StreamAddress, configuration: Configuration = Configuration()) {
        self.address = address
        self.configuration = configuration
    }

    deinit { self.client.withLock { $0 }?.close() }

    /// Sends a message to the server, and waits for the reply.
    public nonisolated(nonsending) func route(_ message: Message) async throws -> any Sendable {
        let client = self.client.withLock { client in
            // A connector runs on the loop of its bus.
            let made = client ?? RPCClient(self.address, self.configuration, on: .current)
            client = made
            return made
        }
        return try await client.route(message)
    }
}
