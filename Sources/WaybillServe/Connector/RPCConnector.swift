public import Logging
public import Waybill
public import WaybillEventLoop
internal import WaybillRouting

/// A connector that sends the URLs of a scheme to another process, which serves them with an ``RPCServer``.
///
/// ```swift
/// try bus.connect("billing", to: RPCConnector(.unix("/run/billing.sock")))
/// let invoice: Invoice = try await bus.route("billing://invoice/7")
/// ```
///
/// All requests share one connection, which the first request opens. When the connection is lost, the
/// requests in flight fail with `unreachable` at once, and the next request connects again. After a failed
/// attempt, requests wait for the next attempt, at most ``Configuration/longestPause``.
///
/// Parameters and replies travel as JSON. A value has to be `Encodable`, and it is decoded when it is read as
/// a type. A value that is not `Encodable` fails with `notTransferable` before a byte is sent. Headers, the
/// remaining time and the number of hops travel beside the values. When the caller is cancelled, the handler
/// is cancelled as well. Progress replies and their answers travel in both directions. The value for a return
/// URL comes back to this process, which routes it on.
///
/// A failure has the code that the other process's bus gave it. Its message does not reveal the inside of
/// that process. If the message has a reference, the log of the server has the cause under that reference.
public final class RPCConnector: Connector {
    /// The configuration of a connector.
    public struct Configuration: Sendable {
        /// The token to send with `$/authenticate`; nil to send none.
        public var token: String?

        /// How long connecting may take; 5 seconds by default.
        public var connectTimeout = Duration.seconds(5)

        /// The length of the first pause after a failed attempt; 20 milliseconds by default.
        ///
        /// The length doubles with every failure, and each pause is shortened by a random part.
        public var firstPause = Duration.milliseconds(20)

        /// The longest pause between two attempts; 2 seconds by default.
        public var longestPause = Duration.seconds(2)

        /// How long a server may be silent while requests are in flight before the connector sends it a ping;
        /// 10 seconds by default, nil to send none.
        ///
        /// If the server stays silent for the same time again, the connector closes the connection.
        public var pingInterval: Duration? = .seconds(10)

        /// The maximum size of a message from the server, in bytes; 16 MiB by default.
        public var frameSize = 16 << 20

        /// The logger for lost connections and for errors of the server that answer no request.
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
    ///   - configuration: How to connect.
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
