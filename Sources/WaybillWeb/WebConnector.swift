#if Web
public import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1
public import Waybill
internal import WaybillRouting

/// Performs http and https URLs.
///
/// ```swift
/// try bus.connect("https", to: WebConnector())
/// let response: WebResponse = try await bus.route("https://example.com/")
/// ```
///
/// The URL goes out as it was given, and so do the message's headers. The method and the body are values that
/// the caller passes with the call, never what a URL says: `method`, a text such as `"PUT"`, and `body`, a
/// `String`, a sequence of bytes, or any other value that is `Encodable`, which goes out as JSON. Without
/// `method` it is `POST` where there is a body, and else `GET`. The payload of a return leg is a body as
/// well, so that `#https://example.com/hook` calls a hook. A value that is not `Encodable` is
/// `notTransferable`, before a byte is sent.
///
/// The reply is a ``WebResponse``, whatever its status: 404 is an answer. A caller that listens for progress
/// replies gets the body in parts, as they come and no faster than it takes them, and a last response without
/// a body:
///
/// ```swift
/// try await bus.route("https://example.com/film") { (part: WebResponse) in file.write(part.body) }
/// ```
///
/// For any other caller the body is kept, up to ``Configuration/bodyLimit``.
///
/// The message's deadline bounds the request, and cancelling the caller ends it. Failures are `invalidURL`;
/// `unreachable`, if there is no connection or it breaks; `deadlineExceeded`; and `refused` for a body that
/// is too large. The cause is the client's error.
///
/// A fragment without a scheme is a place in a web page here, and no return URL.
///
/// To open URLs in a browser or a view of the program's own, and not to fetch them, connect a
/// `WebDestination`.
///
/// On shutting down the HTTP client, see ``init(configuration:)`` and ``init(client:configuration:)``.
public struct WebConnector: Connector {
    /// How much a response may hold, and how long it may take to begin.
    public struct Configuration: Sendable {
        /// How many bytes of a body are kept for a caller that does not listen for parts; 4 MiB by default.
        public var bodyLimit = 4 << 20

        /// How long to wait for a response to begin if the message has no deadline; 60 seconds by default.
        public var timeout = Duration.seconds(60)

        /// Makes a configuration; everything has a default.
        public init() {}
    }

    private let client: HTTPClient
    private let configuration: Configuration

    /// Makes a connector with a client that all connectors made so share.
    ///
    /// It lives as long as the process and needs no shutdown. It does not follow redirects: where a server
    /// sends the caller is the caller's to decide, and the response says it in `location`. It does not try
    /// again to connect either: that is for `RetryMiddleware`.
    ///
    /// - Parameter configuration: the bounds.
    public init(configuration: Configuration = Configuration()) {
        self.init(client: .waybill, configuration: configuration)
    }

    /// Makes a connector with a client of your own.
    ///
    /// It follows redirects if it is configured to, wherever they lead; the client (1.37) traps on one to a
    /// port above 65535, so let it follow only servers that you trust.
    ///
    /// The code that made the client shuts it down, after the bus has been shut down or the connector
    /// disconnected; the connector never does. What is routed afterwards fails with `unreachable`.
    ///
    /// - Parameters:
    ///   - client: the client, with its proxies, certificates and pools.
    ///   - configuration: the bounds.
    public init(client: HTTPClient, configuration: Configuration = Configuration()) {
        self.client = client
        self.configuration = configuration
    }

    /// Performs the request that a message stands for.
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

    /// Reads the body, and sends parts of it to a caller that listens.
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

    /// The latest that the response may begin.
    private func deadline(of message: Message) -> NIODeadline {
        let left = message.deadline.map { ContinuousClock.now.duration(to: $0) } ?? self.configuration.timeout
        // The client counts nanoseconds, which a date that means never may exceed.
        return .now() + TimeAmount(min(left, .seconds(86_400 * 365)))
    }
}

extension HTTPClient {
    /// The client of connectors that are made without one.
    fileprivate static let waybill: HTTPClient = {
        var configuration = Configuration()
        // That a host cannot be reached should be known at once, and not after the connect timeout.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.redirectConfiguration = .disallow
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()
}
#endif
