#if HTTP
import AsyncHTTPClient
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import ServiceLifecycle
import Waybill
import WaybillEventLoop
import WaybillHTTP
import WaybillTestSupport

/// A server of Hummingbird with a gateway, on a port that the system chooses.
struct GatewayServer {
    let bus: MessageBus
    let port: Int
    let client: HTTPClient
    let group: ServiceGroup

    /// Runs a server while the body runs.
    static func run(
        _ bus: MessageBus,
        _ configuration: WaybillGateway.Configuration = .quiet,
        prepare: (Router<BasicRequestContext>) -> Void = { _ in },
        _ body: @Sendable (GatewayServer) async throws -> Void
    ) async throws {
        let logger = Logger(label: "waybill.tests") { _ in SwiftLogNoOpLogHandler() }
        let router = Router()
        prepare(router)
        router.addRoutes(WaybillGateway(bus, configuration: configuration).routes, atPath: "/bus")
        let (ports, found) = AsyncStream.makeStream(of: Int.self)
        let application = Application(
            router: router,
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { found.yield($0.localAddress?.port ?? 0) },
            logger: logger
        )
        let group = ServiceGroup(services: [application], logger: logger)
        let client = HTTPClient()
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            for await port in ports {
                let server = GatewayServer(bus: bus, port: port, client: client, group: group)
                do {
                    try await body(server)
                } catch {
                    await group.triggerGracefulShutdown()
                    try? await client.shutdown()
                    throw error
                }
                break
            }
            await group.triggerGracefulShutdown()
            try await client.shutdown()
            try await tasks.waitForAll()
        }
    }

    /// A response with its whole body.
    struct Answer: Sendable {
        let status: Int
        let headers: HTTPHeaders
        let text: String
    }

    /// Sends a request, and returns its response.
    func send(
        _ method: HTTPMethod,
        _ path: String,
        headers: [String: String] = [:],
        body: String? = nil,
        type: String = "application/json",
        isChunked: Bool = false
    ) async throws -> Answer {
        let response = try await self.open(
            method,
            path,
            headers: headers,
            body: body,
            type: type,
            isChunked: isChunked
        )
        let text = try await response.body.collect(upTo: 1 << 24)
        return Answer(
            status: Int(response.status.code),
            headers: response.headers,
            text: String(buffer: text)
        )
    }

    /// Sends a request, and returns its response as a stream.
    func open(
        _ method: HTTPMethod,
        _ path: String,
        headers: [String: String] = [:],
        body: String? = nil,
        type: String = "application/json",
        isChunked: Bool = false
    ) async throws -> HTTPClientResponse {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(self.port)/bus/\(path)")
        request.method = method
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        if let body {
            request.headers.add(name: "Content-Type", value: type)
            let bytes = ByteBuffer(string: body)
            let stream = AsyncStream { parts in
                parts.yield(bytes)
                parts.finish()
            }
            request.body = isChunked ? .stream(stream, length: .unknown) : .bytes(bytes)
        }
        return try await self.client.execute(request, timeout: .seconds(30))
    }

    /// Opens a connection, for a request whose bytes a test writes itself.
    func connect() async throws -> StreamConnection {
        try await StreamConnection.connect(to: .tcp("127.0.0.1", port: self.port), on: self.bus.eventLoop)
    }

    /// Sends the bytes of a request on a new connection, and returns the first part of the response.
    ///
    /// The text is empty if the connection or the task ends before a response arrives.
    func response(to bytes: [UInt8]) async -> String {
        guard let connection = try? await self.connect() else { return "" }
        defer { connection.close() }
        // A server that refuses the request may close the connection before it has read all bytes.
        try? await connection.write(bytes)
        return String(decoding: (try? await connection.read()) ?? [], as: UTF8.self)
    }

    /// Opens a stream of events.
    func events(
        _ method: HTTPMethod,
        _ path: String,
        headers: [String: String] = [:],
        body: String? = nil
    ) async throws -> EventReader {
        var headers = headers
        headers["Accept"] = "text/event-stream"
        return EventReader(try await self.open(method, path, headers: headers, body: body))
    }
}

extension WaybillGateway.Configuration {
    /// The default configuration without log output of failures.
    static var quiet: Self { Self(logger: Logger(label: "waybill.tests") { _ in SwiftLogNoOpLogHandler() }) }

    /// Returns the quiet configuration with one changed property.
    static func with<Value>(_ property: WritableKeyPath<Self, Value>, _ value: Value) -> Self {
        var configuration = Self.quiet
        configuration[keyPath: property] = value
        return configuration
    }
}

/// Reads the events of a response.
final class EventReader {
    struct Event: Equatable {
        var name = ""
        var id = ""
        var data = ""
    }

    let response: HTTPClientResponse
    private var parts: AsyncThrowingStream<ByteBuffer, any Error>.AsyncIterator
    private var lines: [String] = []
    private var rest = ""
    private(set) var comments = 0

    init(_ response: HTTPClientResponse) {
        self.response = response
        // The body cannot be read on the actor of its reader.
        let (parts, source) = AsyncThrowingStream.makeStream(of: ByteBuffer.self)
        let body = response.body
        let task = Task {
            do {
                for try await part in body { source.yield(part) }
                source.finish()
            } catch {
                source.finish(throwing: error)
            }
        }
        source.onTermination = { _ in task.cancel() }
        self.parts = parts.makeAsyncIterator()
    }

    /// Returns the next event, or nil when the stream has ended.
    func next() async throws -> Event? {
        var event = Event()
        while let line = try await self.line() {
            if line.isEmpty {
                if event != Event() { return event }
            } else if line.hasPrefix(":") {
                self.comments += 1
            } else if let colon = line.firstIndex(of: ":") {
                let value = String(line[line.index(after: colon)...].drop { $0 == " " })
                switch line[..<colon] {
                case "event": event.name = value
                case "id": event.id = value
                case "data": event.data += event.data.isEmpty ? value : "\n\(value)"
                default: break
                }
            }
        }
        return nil
    }

    private func line() async throws -> String? {
        while self.lines.isEmpty {
            guard let part = try await self.parts.next(isolation: #isolation) else { return nil }
            self.rest += String(buffer: part)
            var lines = self.rest.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            self.rest = lines.removeLast()
            self.lines = lines
        }
        return self.lines.removeFirst()
    }
}
#endif
