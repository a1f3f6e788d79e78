#if Web
public import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1
public import Waybill
internal import WaybillJSON
internal import WaybillRouting

/// A connector that sends the messages for the URLs of one scheme to an HTTP gateway of another process.
///
/// ```swift
/// try bus.connect("billing", to: GatewayConnector("https://example.com/bus"))
/// let invoice: Invoice = try await bus.route("billing://invoice/7")
/// ```
///
/// A message is sent as a POST request. A message with a payload, as for a return URL, is sent as an event of
/// CloudEvents. The response is a stream of server-sent events with the progress replies and the reply. An
/// answer of the caller to a progress reply is not sent to the handler, so a handler that needs the answer
/// fails. Parameters and replies are sent as JSON. The headers of the message are headers of the request. The
/// deadline of the message limits the request, and cancelling the caller cancels the handler. The request
/// counts as one hop of the message.
///
/// ``subscription(to:)`` returns the messages that are published on the bus of the other process.
///
/// A failure has the code that the bus of the other process has assigned. If a value is not `Encodable`, the
/// message fails with `notTransferable` before a byte is sent.
public struct GatewayConnector: Connector {
    private let base: String
    private let token: String?
    let client: HTTPClient

    /// The time limit for a message without a deadline.
    private static let timeout = Duration.seconds(60)

    /// The maximum number of bytes of one event, and of the body of a failure.
    static let limit = 32 << 20

    /// Creates a connector that uses an HTTP client of the process.
    ///
    /// All connectors of this initializer share the client, which has up to 80 connections to each host. Each
    /// subscription and each call occupies a connection until it ends, and other messages wait.
    ///
    /// - Parameters:
    ///   - base: The URL of the gateway, such as `http://localhost:8080/bus`.
    ///   - token: The token to send as `Authorization: Bearer`; nil to send no token.
    public init(_ base: String, token: String? = nil) { self.init(base, token: token, client: .waybill) }

    /// Creates a connector with an HTTP client that the program provides and shuts down.
    ///
    /// Each subscription and each call occupies a connection until it ends. By default, an HTTP client has
    /// only 8 connections to each host. Raise `concurrentHTTP1ConnectionsPerHostSoftLimit` of its connection
    /// pool for more subscriptions and calls at a time.
    ///
    /// - Parameters:
    ///   - base: The URL of the gateway, such as `http://localhost:8080/bus`.
    ///   - token: The token to send as `Authorization: Bearer`; nil to send no token.
    ///   - client: The HTTP client, with its proxies, certificates and pools.
    public init(_ base: String, token: String? = nil, client: HTTPClient) {
        self.base = base.hasSuffix("/") ? String(base.dropLast()) : base
        self.token = token
        self.client = client
    }

    /// Sends a message to the gateway, and waits for the reply.
    public nonisolated(nonsending) func route(_ message: Message) async throws -> any Sendable {
        let url = message.parameters.url
        let request = try self.request(for: message, url: url)
        let left = message.deadline.map { ContinuousClock.now.duration(to: $0) } ?? Self.timeout
        do {
            let deadline = NIODeadline.now() + TimeAmount(min(left, .seconds(86_400 * 365)))
            let response = try await self.client.execute(request, deadline: deadline)
            try await Self.check(response, to: request, of: self.client, url: url)
            return try await self.read(response, for: message, url: url)
        } catch {
            throw RoutingError.web(error, url: url)
        }
    }

    private func request(for message: Message, url: String) throws(RoutingError) -> HTTPClientRequest {
        let path = Self.path(of: message.address)
        let segments = path.prefix { $0 != "?" }.split(separator: "/")
        guard !segments.contains("."), !segments.contains("..") else {
            throw RoutingError(.invalidURL, url: url, message: "HTTP has no segments `.` and `..`")
        }
        var request = try HTTPClientRequest(to: "\(self.base)/\(path)", for: url)
        request.method = .POST
        for (name, value) in message.headers.sorted(by: { $0.key < $1.key }) {
            request.headers.add(name: name, value: value)
        }
        // The gateway would read these headers itself.
        for name in ["Waybill-Return", "Waybill-Timeout"] { request.headers.remove(name: name) }
        request.headers.replaceOrAdd(name: "Content-Type", value: "application/json")
        request.headers.replaceOrAdd(name: "Accept", value: "text/event-stream")
        // The hop limit must end an endless chain of messages between two processes.
        request.headers.replaceOrAdd(name: "Waybill-Hops", value: "\(message.hops + 1)")
        if let deadline = message.deadline {
            let left = max(0, Int(ContinuousClock.now.duration(to: deadline) / .milliseconds(1)))
            request.headers.replaceOrAdd(name: "Waybill-Timeout", value: "\(left)")
        }
        self.authorize(&request)
        do throws(RoutingError) {
            if let payload = message.rawPayload {
                // A gateway reads the members of a JSON object as parameters, except in an event.
                // The deadline is already in the header `Waybill-Timeout`. The attribute `expirytime` would be
                // wrong on a host whose clock differs.
                let attributes = CloudEvent(attributesOf: message, of: url, from: "/waybill").attributes
                let event = CloudEvent(
                    known: attributes.filter { $0.key != "expirytime" },
                    data: try JSONWriter.encoded(payload)
                )
                request.headers.replaceOrAdd(name: "Content-Type", value: CloudEvent.structuredType)
                request.body = .bytes(ByteBuffer(bytes: event.structured))
            } else {
                let values = message.parameters.passedValues
                request.body = .bytes(ByteBuffer(bytes: try JSONWriter.encoded(values)))
            }
        } catch {
            throw RoutingError(error.code, url: url, message: error.message, cause: error.cause)
        }
        return request
    }

    /// Returns the path of an address under the URL of the gateway: the scheme, the path and the query.
    private static func path(of address: Address) -> String {
        let url = address.completeURL.unicodeScalars
        let rest = url.drop { $0 != ":" }.dropFirst().drop { $0 == "/" }.prefix { $0 != "#" }
        return "\(address.scheme)/\(Substring(rest))"
    }

    /// Returns a GET request for a route of the gateway itself, whose errors contain `url`.
    func request(
        for path: String,
        accept type: String,
        url: String
    ) throws(RoutingError) -> HTTPClientRequest {
        var request = try HTTPClientRequest(to: "\(self.base)/\(path)", for: url)
        request.headers.add(name: "Accept", value: type)
        self.authorize(&request)
        return request
    }

    private func authorize(_ request: inout HTTPClientRequest) {
        if let token { request.headers.replaceOrAdd(name: "Authorization", value: "Bearer \(token)") }
    }

    /// Reads the events of a response, and returns the reply.
    private nonisolated(nonsending) func read(
        _ response: HTTPClientResponse,
        for message: Message,
        url: String
    ) async throws -> any Sendable {
        var events = EventParser(limit: Self.limit)
        let body = EventBody(response, of: self.client)
        while let buffer = try await body.next() {
            for event in try events.parse(buffer.readableBytesView) {
                switch event.name {
                case "progress":
                    _ = await message.reply(with: try Self.json(event.data, url: url))
                    try Task.checkCancellation()
                case "reply": return try Self.json(event.data, url: url)
                case "failure": throw Self.error(event.data, status: 200, url: url)
                default: break
                }
            }
        }
        throw RoutingError(.unreachable, url: url, message: "the response ended without a reply")
    }

    /// Returns the JSON value that the server of a URL has sent.
    static func json(_ bytes: [UInt8], url: String) throws(RoutingError) -> JSONText {
        do throws(JSONError) {
            return try JSONText(bytes).validated(depthLimit: 256)
        } catch {
            throw RoutingError(.refused, url: url, message: "the gateway has sent an invalid value: \(error)")
        }
    }

    /// Throws an error unless a response has the status 200 and the content type that the request accepts.
    ///
    /// A server that sends another status or content type, such as a redirect or a page, is not a gateway.
    static func check(
        _ response: HTTPClientResponse,
        to request: HTTPClientRequest,
        of client: HTTPClient,
        url: String
    ) async throws {
        let status = response.status.code
        if status >= 400 {
            let problem = try await EventBody(response, of: client).collect(upTo: Self.limit)
            throw Self.error(problem, status: status, url: url)
        }
        let accepted = request.headers.first(name: "Accept") ?? ""
        let type = response.headers.first(name: "Content-Type")
        guard status == 200, let type, type.lowercased().hasPrefix(accepted) else {
            let found = SafeText.line(type ?? "no content type", limit: 80)
            throw RoutingError(
                .refused,
                url: url,
                message: "the server answers with status \(status) and \(found) instead of status 200 and "
                    + "\(accepted): check the address of the gateway"
            )
        }
    }

    /// Returns the error that the problem details (RFC 9457) in a body describe.
    ///
    /// A proxy whose gateway cannot be reached sends a status without problem details.
    private static func error(_ bytes: [UInt8], status: UInt, url: String) -> RoutingError {
        let problem = try? JSONText(validating: bytes)
        let detail = problem?.member(named: "detail")?.string ?? "the gateway rejected the request"
        let reference = problem?.member(named: "id")?.string.map { " (reference \($0))" } ?? ""
        let code = problem?.member(named: "code")?.string.flatMap { RoutingError.Code(named: $0) }
        let declared = problem?.member(named: "error").flatMap { DeclaredError($0, message: detail) }
        let fallback: RoutingError.Code =
            switch status {
            case 429: .mailboxFull
            case 502, 503, 504: .unreachable
            default: .refused
            }
        return RoutingError(code ?? fallback, url: url, message: detail + reference, cause: declared)
    }
}
#endif
