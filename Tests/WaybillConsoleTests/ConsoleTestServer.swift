#if HTTP
import AsyncHTTPClient
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import ServiceLifecycle
import Testing
import Waybill
import WaybillEventLoop
import WaybillJSON
import WaybillTestSupport

@testable import WaybillConsole

/// A server of Hummingbird with a console at `/console`, on a port that the system chooses.
struct ConsoleTestServer {
    let console: WaybillConsole
    let port: Int
    let client: HTTPClient
    let group: ServiceGroup
    /// The cookie that a browser gets for the token.
    var cookie: String?

    var origin: String { "http://127.0.0.1:\(self.port)" }

    /// Runs a server while the body runs.
    ///
    /// The client of the server is signed in.
    static func run(
        _ bus: MessageBus,
        _ configuration: WaybillConsole.Configuration = .quiet(),
        _ body: @Sendable (ConsoleTestServer) async throws -> Void
    ) async throws {
        let logger = Logger(label: "waybill.tests") { _ in SwiftLogNoOpLogHandler() }
        let console = WaybillConsole(bus, configuration: configuration)
        let router = Router()
        router.addRoutes(console.routes, atPath: "/console")
        let (ports, found) = AsyncStream.makeStream(of: Int.self)
        let application = Application(
            router: router,
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { found.yield($0.localAddress?.port ?? 0) },
            logger: logger
        )
        let group = ServiceGroup(services: [application], logger: logger)
        let client = HTTPClient(configuration: .init(redirectConfiguration: .disallow))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            let outcome: Result<Void, any Error>
            do {
                var ports = ports.makeAsyncIterator()
                let port = await ports.next(isolation: #isolation) ?? 0
                var server = ConsoleTestServer(console: console, port: port, client: client, group: group)
                let answer = try await server.send(.GET, "?token=\(configuration.token)", cookie: nil)
                server.cookie = answer.headers.first(name: "Set-Cookie")?.split(separator: ";").first.map(
                    String.init
                )
                outcome = .success(try await body(server))
            } catch {
                outcome = .failure(error)
            }
            await group.triggerGracefulShutdown()
            try await client.shutdown()
            try await tasks.waitForAll()
            try outcome.get()
        }
    }

    /// A response with its whole body.
    struct Answer: Sendable {
        let status: Int
        let headers: HTTPHeaders
        let text: String

        var json: JSONText? { try? JSONText(validating: Array(self.text.utf8)) }
    }

    /// Sends a request, and returns its response.
    func send(
        _ method: HTTPMethod,
        _ path: String,
        headers: [String: String] = [:],
        body: String? = nil,
        cookie: String?
    ) async throws -> Answer {
        let response = try await self.open(method, path, headers: headers, body: body, cookie: cookie)
        let text = try await response.body.collect(upTo: 1 << 26)
        return Answer(
            status: Int(response.status.code),
            headers: response.headers,
            text: String(buffer: text)
        )
    }

    /// Sends a GET request with the cookie.
    func get(_ path: String) async throws -> Answer { try await self.send(.GET, path, cookie: self.cookie) }

    /// Sends a POST request in the way that a page of the server does.
    func post(_ path: String, _ body: String) async throws -> Answer {
        let headers = ["Content-Type": "application/json", "Origin": self.origin]
        return try await self.send(.POST, path, headers: headers, body: body, cookie: self.cookie)
    }

    /// Sends a request, and returns its response as a stream.
    func open(
        _ method: HTTPMethod,
        _ path: String,
        headers: [String: String] = [:],
        body: String? = nil,
        timeout: TimeAmount = .seconds(60),
        cookie: String?
    ) async throws -> HTTPClientResponse {
        var request = HTTPClientRequest(url: "\(self.origin)/console/\(path)")
        request.method = method
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        if let cookie { request.headers.add(name: "Cookie", value: cookie) }
        if let body { request.body = .bytes(ByteBuffer(string: body)) }
        return try await self.client.execute(request, timeout: timeout)
    }

    /// Reads a stream without keeping its contents.
    ///
    /// - Parameter isContinued: Called after each part. False ends the stream.
    /// - Throws: The error of the client.
    func read(_ isContinued: @Sendable (String) throws -> Bool) async throws {
        let response = try await self.open(.GET, "api/stream", timeout: .hours(2), cookie: self.cookie)
        for try await part in response.body where try !isContinued(String(buffer: part)) { break }
    }

    /// Reads the snapshots of a stream until one of them satisfies a condition.
    ///
    /// - Returns: The contents of all snapshots.
    @discardableResult
    func watch(
        _ query: String = "",
        whileWatching act: @Sendable () async throws -> Void = {},
        until isDone: @Sendable (SnapshotLog) -> Bool
    ) async throws -> SnapshotLog {
        let response = try await self.open(.GET, "api/stream\(query)", cookie: self.cookie)
        try #require(response.status == .ok)
        var log = SnapshotLog()
        var hasActed = false
        for try await part in response.body {
            log.add(String(buffer: part))
            if !hasActed, log.count > 0 {
                hasActed = true
                try await act()
            }
            if hasActed, isDone(log) { break }
        }
        return log
    }
}

/// The contents of a stream of snapshots, merged as in a page.
struct SnapshotLog: Sendable {
    private(set) var count = 0
    /// The whole text.
    private(set) var text = ""
    private(set) var rows: [String: JSONText] = [:]
    private(set) var last: JSONText?
    private var rest = ""

    mutating func add(_ part: String) {
        self.text += part
        self.rest += part
        while let end = self.rest.firstRange(of: "\n\n") {
            let event = self.rest[..<end.lowerBound]
            self.rest = String(self.rest[end.upperBound...])
            guard event.contains("event: snapshot"), let start = event.firstRange(of: "data: ") else {
                continue
            }
            let data = event[start.upperBound...]
            guard let json = try? JSONText(validating: Array(data.utf8)) else { continue }
            self.count += 1
            self.last = json
            for row in json.member(named: "rows")?.elements ?? [] {
                self.rows[row.member(named: "id")?.string ?? ""] = row
            }
        }
    }

    func number(_ name: String) -> Int? { self.last?.member(named: name)?.int }

    func rows(to url: String) -> [JSONText] {
        self.rows.values.filter { $0.member(named: "url")?.string == url }
    }
}

extension WaybillConsole.Configuration {
    /// Returns the default configuration without log output, changed by a closure.
    static func quiet(_ change: (inout Self) -> Void = { _ in }) -> Self {
        var configuration = Self(logger: Logger(label: "waybill.tests") { _ in SwiftLogNoOpLogHandler() })
        configuration.updatesPerSecond = 50
        configuration.lingering = .milliseconds(50)
        change(&configuration)
        return configuration
    }
}
#endif
