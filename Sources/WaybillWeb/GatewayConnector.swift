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
/// A message is sent as a POST request. The response is a stream of server-sent events with the progress
/// replies and the reply. An answer of the caller to a progress reply is not sent to the handler, so a
/// handler that needs the answer fails. Parameters and replies are sent as JSON. The headers of the message
/// are headers of the request. The deadline of the message limits the request, and cancelling the caller
/// cancels the handler.
///
/// A failure has the code that the bus of the other process has assigned. If a value is not `Encodable`, the
/// message fails with `notTransferable` before a byte is sent.
public struct GatewayConnector: Connector {
    private let base: String
    private let token: String?
    private let client: HTTPClient

    /// The time limit for a message without a deadline.
    private static let timeout = Duration.seconds(60)

    /// The maximum number of bytes of one event, and of the body of a failure.
    private static let limit = 32 << 20

    /// Creates a connector that uses an HTTP client of the process.
    ///
    /// All connectors of this initializer share the client.
    ///
    /// - Parameters:
    ///   - base: The URL of the gateway, such as `http://localhost:8080/bus`.
    ///   - token: The token to send as `Authorization: Bearer`; nil to send no token.
    public init(_ base: String, token: String? = nil) { self.init(base, token: token, client: .waybill) }

    /// Creates a connector with an HTTP client that the program provides and shuts down.
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
            guard response.status.code < 400 else {
                let problem = try await response.body.collect(upTo: Self.limit)
                throw Self.error(Array(problem.readableBytesView), url: url)
            }
            return try await self.read(response, for: message, url: url)
        } catch {
            throw RoutingError.web(error, url: url)
        }
    }

    private func request(for message: Message, url: String) throws(RoutingError) -> HTTPClientRequest {
        let path = url.prefix { $0 != "#" }.replacing("://", with: "/", maxReplacements: 1)
        var request = HTTPClientRequest(url: "\(self.base)/\(path)")
        request.method = .POST
        for (name, value) in message.headers.sorted(by: { $0.key < $1.key }) {
            request.headers.add(name: name, value: value)
        }
        request.headers.replaceOrAdd(name: "Content-Type", value: "application/json")
        request.headers.replaceOrAdd(name: "Accept", value: "text/event-stream")
        if let deadline = message.deadline {
            let left = max(0, Int(ContinuousClock.now.duration(to: deadline) / .milliseconds(1)))
            request.headers.replaceOrAdd(name: "Waybill-Timeout", value: "\(left)")
        }
        if let token { request.headers.replaceOrAdd(name: "Authorization", value: "Bearer \(token)") }
        do throws(RoutingError) {
            let values = Dictionary(message.parameters.passedValues.map { ($0.0, $0.1) }) { $1 }
            request.body = .bytes(ByteBuffer(bytes: try JSONWriter.encoded(values)))
        } catch {
            throw RoutingError(error.code, url: url, message: error.message, cause: error.cause)
        }
        return request
    }

    /// Reads the events of a response, and returns the reply.
    private nonisolated(nonsending) func read(
        _ response: HTTPClientResponse,
        for message: Message,
        url: String
    ) async throws -> any Sendable {
        var events = EventParser(limit: Self.limit)
        for try await buffer in response.body {
            for event in try events.parse(buffer.readableBytesView) {
                switch event.name {
                case "progress":
                    _ = await message.reply(with: JSONText(event.data))
                    try Task.checkCancellation()
                case "reply": return JSONText(event.data)
                case "failure": throw Self.error(event.data, url: url)
                default: break
                }
            }
        }
        throw RoutingError(.unreachable, url: url, message: "the response ended without a reply")
    }

    /// Returns the error that the problem details (RFC 9457) in a body describe.
    private static func error(_ bytes: [UInt8], url: String) -> RoutingError {
        let problem = try? JSONText(validating: bytes)
        let detail = problem?.member(named: "detail")?.string ?? "the gateway rejected the request"
        let reference = problem?.member(named: "id")?.string.map { " (reference \($0))" } ?? ""
        let code = problem?.member(named: "code")?.string.flatMap { RoutingError.Code(named: $0) }
        let declared = problem?.member(named: "error").flatMap { DeclaredError($0, message: detail) }
        return RoutingError(code ?? .refused, url: url, message: detail + reference, cause: declared)
    }
}

/// Splits the body of a response into server-sent events.
private struct EventParser {
    struct Event {
        let name: String
        let data: [UInt8]
    }

    private let limit: Int
    /// The bytes of the line that has not ended.
    private var line: [UInt8] = []
    private var name = ""
    private var data: [UInt8] = []

    init(limit: Int) { self.limit = limit }

    /// Returns the events whose last byte is in a part of the body.
    mutating func parse(_ part: some Sequence<UInt8>) throws(RoutingError) -> [Event] {
        var events: [Event] = []
        for byte in part {
            if byte != UInt8(ascii: "\n") {
                guard self.line.count + self.data.count < self.limit else {
                    throw RoutingError.refused("an event of the gateway has more than \(self.limit) bytes")
                }
                self.line.append(byte)
            } else if let event = self.endLine() {
                events.append(event)
            }
        }
        return events
    }

    /// Handles the end of a line, and returns the event that ends with an empty line.
    private mutating func endLine() -> Event? {
        defer { self.line.removeAll(keepingCapacity: true) }
        if self.line.isEmpty {
            defer { (self.name, self.data) = ("", []) }
            return self.name.isEmpty ? nil : Event(name: self.name, data: self.data)
        }
        if self.line.starts(with: "event: ".utf8) {
            self.name = String(decoding: self.line.dropFirst(7), as: UTF8.self)
        } else if self.line.starts(with: "data: ".utf8) {
            if !self.data.isEmpty { self.data.append(UInt8(ascii: "\n")) }
            self.data += self.line.dropFirst(6)
        }
        return nil
    }
}
#endif
