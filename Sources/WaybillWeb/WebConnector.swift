#if Web
public import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1
public import Waybill
internal import WaybillRouting

/// A connector that sends messages to http and https URLs as HTTP requests.
///
/// ```swift
/// try bus.connect("https", to: WebConnector())
/// let response: WebResponse = try await bus.route("https://example.com/")
/// ```
///
/// The request has the URL and the headers of the message. The method and the body are values that the caller
/// passes with the call, and never parts of the URL. `method` is a text such as `"PUT"`. `body` is a
/// `String`, a sequence of bytes, or any other `Encodable` value, which is sent as JSON. Without `method`,
/// the method is `POST` if there is a body, and otherwise `GET`. The payload of a message to a return URL is
/// also a body, so a message with the fragment `#https://example.com/hook` sends its reply to that webhook.
/// If a value is not `Encodable`, the message fails with `notTransferable` before a byte is sent.
///
/// The reply is a ``WebResponse`` with any status, so a response with the status 404 is also a reply. A
/// caller that handles progress replies receives the parts of the body as they arrive. The connector reads
/// the next part when the caller has handled a part. The final response then has no body:
///
/// ```swift
/// try await bus.route("https://example.com/film") { (part: WebResponse) in file.write(part.body) }
/// ```
///
/// For any other caller, the connector collects the body, up to ``Configuration/bodyLimit``.
///
/// The message's deadline limits the request, and cancelling the caller cancels the request. The code of a
/// failure is `invalidURL`, `unreachable` if the connection fails, `deadlineExceeded`, or `refused` if the
/// body is too large. The cause of a failure is the error of the HTTP client.
///
/// A fragment without a scheme is a position in a web page, and not a return URL.
///
/// To open URLs in a browser or in a view of the program instead of fetching them, connect a `WebDestination`
/// of `WaybillCompatibility`.
///
/// ``init(configuration:)`` and ``init(client:configuration:)`` describe the shutdown of the HTTP client.
public struct WebConnector: Connector {
    /// The limits on the size of a response and on the time until the response begins.
    public struct Configuration: Sendable {
        /// The maximum number of bytes of a body that the connector collects; 4 MiB by default.
        public var bodyLimit = 4 << 20

        /// The time limit for the beginning of a response if the message has no deadline; 60 seconds by
        /// default.
        public var timeout = Duration.seconds(60)

        /// Creates a configuration.
        ///
        /// Every property has a default.
        public init() {}
    }

    private let client: HTTPClient
    private let configuration: Configuration

    /// Creates a connector that uses an HTTP client of the process.
    ///
    /// All connectors of this initializer share the client. The client exists as long as the process and
    /// needs no shutdown. The client does not follow redirects: the caller receives the response, and the
    /// header `location` contains the new URL. If a connection fails, the client does not try again. Use
    /// `RetryMiddleware` to send a message again. The client has up to 80 connections to each host, and other
    /// requests to the host wait.
    ///
    /// - Parameter configuration: The limits of responses.
    public init(configuration: Configuration = Configuration()) {
        self.init(client: .waybill, configuration: configuration)
    }

    /// Creates a connector with an HTTP client that the program provides.
    ///
    /// If the client is configured to follow redirects, it follows all redirects. The client (version 1.37)
    /// traps on a redirect to a port above 65535, so let it follow redirects only from servers that you
    /// trust.
    ///
    /// The program must shut the client down, after the bus has been shut down or the connector has been
    /// disconnected. The connector never shuts the client down. Messages that are routed after the shutdown
    /// fail with `unreachable`.
    ///
    /// - Parameters:
    ///   - client: The HTTP client, with its proxies, certificates and pools.
    ///   - configuration: The limits of responses.
    public init(client: HTTPClient, configuration: Configuration = Configuration()) {
        self.client = client
        self.configuration = configuration
    }

    /// Sends the HTTP request of a message, and returns its response.
    public nonisolated(nonsending) func route(_ message: Message) async throws -> any Sendable {
        let request = try HTTPClientRequest(message)
        if message.address.fragmentIsPlace { message.declineReturn() }
        do {
            let response = try await self.client.execute(request, deadline: self.deadline(of: message))
            return try await self.read(response, for: message)
        } catch {
            throw RoutingError.web(error, url: message.address.text)
        }
    }

    /// Reads the body, and sends the caller its parts if the caller handles progress replies.
    private nonisolated(nonsending) func read(
        _ response: HTTPClientResponse,
        for message: Message
    ) async throws -> WebResponse {
        var whole = WebResponse(response)
        let isListening = await message.hasListener()
        for try await buffer in response.body where buffer.readableBytes > 0 {
            if isListening {
                var part = whole
                part.body = Array(buffer.readableBytesView)
                if await message.reply(with: part) { continue }
                try Task.checkCancellation()
                // The caller's closure has thrown. The bus reports this error to the caller only if the
                // connector replies.
                message.declineReturn()
                return whole
            }
            guard whole.body.count + buffer.readableBytes <= self.configuration.bodyLimit else {
                throw RoutingError.refused(
                    "the response body exceeds the \(self.configuration.bodyLimit) bytes that `bodyLimit` allows; "
                        + "a caller that handles progress replies receives the body in parts"
                )
            }
            whole.body.append(contentsOf: buffer.readableBytesView)
        }
        return whole
    }

    /// Returns the latest time at which the response may begin.
    private func deadline(of message: Message) -> NIODeadline {
        let left = message.deadline.map { ContinuousClock.now.duration(to: $0) } ?? self.configuration.timeout
        // The client counts nanoseconds in an integer, which a very distant deadline would overflow.
        return .now() + TimeAmount(min(left, .seconds(86_400 * 365)))
    }
}

extension HTTPClient {
    /// The client of all connectors for which the program does not provide a client.
    static let waybill: HTTPClient = {
        var configuration = Configuration()
        // An unreachable host should fail at once, and not after the connect timeout.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.redirectConfiguration = .disallow
        // Each subscription and each call to a gateway occupies a connection. By default, a gateway rejects a
        // client's 101st stream. With fewer connections, a burst of calls waits and does not fail.
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 80
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()
}
#endif
