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
/// the method is `POST` if there is a body, and otherwise `GET`. The payload of a return leg is also a body,
/// so `#https://example.com/hook` calls a webhook. A value that is not `Encodable` fails with
/// `notTransferable` before a byte is sent.
///
/// The reply is a ``WebResponse``, whatever its status: 404 is also a reply. A caller that handles progress
/// replies receives the parts of the body as they arrive, no faster than it handles them. Its last response
/// has no body:
///
/// ```swift
/// try await bus.route("https://example.com/film") { (part: WebResponse) in file.write(part.body) }
/// ```
///
/// For any other caller the body is collected, up to ``Configuration/bodyLimit``.
///
/// The message's deadline limits the request, and cancelling the caller cancels it. The code of a failure is
/// `invalidURL`, `unreachable` if the connection fails, `deadlineExceeded`, or `refused` if the body is too
/// large. The cause is the error of the client.
///
/// A fragment without a scheme is a position in a web page, and not a return URL.
///
/// To open URLs in a browser or in a view of the program instead of fetching them, connect a
/// `WebDestination`.
///
/// ``init(configuration:)`` and ``init(client:configuration:)`` describe the shutdown of the HTTP client.
public struct WebConnector: Connector {
    /// The limits of a response's size and of the time until it begins.
    public struct Configuration: Sendable {
        /// The most bytes of a body that is collected; 4 MiB by default.
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

    /// Creates a connector with a client that all connectors of this initializer share.
    ///
    /// The client exists as long as the process and needs no shutdown. It does not follow redirects, because
    /// the caller decides where to go; the response has the new URL in `location`. It does not retry to
    /// connect either. Use `RetryMiddleware` for that.
    ///
    /// - Parameter configuration: The limits of responses.
    public init(configuration: Configuration = Configuration()) {
        self.init(client: .waybill, configuration: configuration)
    }

    /// Creates a connector with a client that the program provides.
    ///
    /// The client follows all redirects if it is configured to follow them. Because the client (1.37) traps
    /// on a redirect to a port above 65535, let it follow only servers that you trust.
    ///
    /// The program shuts the client down, after the bus has been shut down or the connector has been
    /// disconnected. The connector never does. Messages that are routed afterwards fail with `unreachable`.
    ///
    /// - Parameters:
    ///   - client: The client, with its proxies, certificates and pools.
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

    /// Reads the body, and sends its parts to a caller that handles progress replies.
    private nonisolated(nonsending) func read(
        _ response: HTTPClientResponse,
        for message: Message
    ) async throws -> WebResponse {
        var whole = WebResponse(response)
        var isHeard: Bool?
        for try await buffer in response.body where buffer.readableBytes > 0 {
            if isHeard != false {
                var part = whole
                part.body = Array(buffer.readableBytesView)
                let wasHeard = await message.reply(with: part)
                try Task.checkCancellation()
                guard wasHeard || isHeard == nil else {
                    throw RoutingError.refused("the caller did not accept a part of the response body")
                }
                isHeard = wasHeard
                if wasHeard { continue }
            }
            guard whole.body.count + buffer.readableBytes <= self.configuration.bodyLimit else {
                throw RoutingError.refused(
                    "the body is longer than the \(self.configuration.bodyLimit) bytes that `bodyLimit` allows; "
                        + "a caller that listens for progress replies gets it in parts"
                )
            }
            whole.body.append(contentsOf: buffer.readableBytesView)
        }
        return whole
    }

    /// Returns the latest time at which the response may begin.
    private func deadline(of message: Message) -> NIODeadline {
        let left = message.deadline.map { ContinuousClock.now.duration(to: $0) } ?? self.configuration.timeout
        // The client counts nanoseconds, which overflow for a very distant deadline.
        return .now() + TimeAmount(min(left, .seconds(86_400 * 365)))
    }
}

extension HTTPClient {
    /// The client that connectors share if the program does not provide one.
    static let waybill: HTTPClient = {
        var configuration = Configuration()
        // An unreachable host should fail at once, and not after the connect timeout.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.redirectConfiguration = .disallow
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()
}
#endif
