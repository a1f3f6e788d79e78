import Foundation
import Logging
import Waybill
import WaybillEventLoop
import WaybillJSON
import WaybillTestSupport

@testable import WaybillServe

/// Runs a closure with a new folder, whose path is short enough for sockets.
func withFolder<Result>(_ body: (String) async throws -> Result) async throws -> Result {
    let path = "/tmp/waybill-\(UInt32.random(in: .min ... .max))"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: path) }
    return try await body(path)
}

extension RPCServer.Configuration {
    /// The default configuration without log output.
    static var quiet: Self {
        var configuration = Self()
        configuration.logger = Logger(label: "waybill.tests") { _ in SwiftLogNoOpLogHandler() }
        return configuration
    }
}

/// A bus with a server.
struct Served {
    let bus: MessageBus
    let server: RPCServer
    let address: StreamAddress

    /// A connection that speaks bytes.
    func client() async throws -> RawClient {
        RawClient(try await StreamConnection.connect(to: self.address, on: self.bus.eventLoop))
    }

    /// Sends lines over a new connection, and reads the same number of lines.
    func ask(_ lines: String..., answers count: Int? = nil) async throws -> [String] {
        let client = try await self.client()
        for line in lines { try await client.send(line) }
        return try await client.lines(count ?? lines.count)
    }

    /// Waits until the counts of the server show that each request was answered or abandoned.
    func balances() async -> Bool {
        await eventually {
            let counts = self.server.statistics
            return counts.requestsInFlight == 0 && counts.openConnections == 0
        }
    }
}

/// Runs a closure with a bus that is served at a Unix socket or at another address.
///
/// Server and bus end afterwards.
func withServer(
    at address: StreamAddress? = nil,
    configuration: RPCServer.Configuration = .quiet,
    eventLoop: EventLoop = EventLoop(name: "server"),
    bus busConfiguration: MessageBus.Configuration = .quiet,
    _ body: (Served) async throws -> Void
) async throws {
    try await withFolder { folder in
        let bus = MessageBus(eventLoop: eventLoop, configuration: busConfiguration)
        let server = RPCServer(
            bus,
            listening: address ?? .unix(folder + "/socket"),
            configuration: configuration
        )
        let bound = try await server.start()
        let task = Task { try await server.run() }
        do {
            try await body(Served(bus: bus, server: server, address: bound))
            task.cancel()
            try await task.value
        } catch {
            task.cancel()
            _ = try? await task.value
            throw error
        }
        await bus.shutDown()
    }
}

/// A client that sends and reads lines.
final class RawClient: Sendable {
    let connection: StreamConnection
    private let reader = Locked(FrameReader(limit: 64 << 20, framing: .lines))

    init(_ connection: StreamConnection) { self.connection = connection }

    func send(_ line: String) async throws {
        try await self.connection.write(Array((line + "\n").utf8))
    }

    /// Returns the next line, or nil when the server has closed the connection.
    func line() async throws -> String? {
        while true {
            if let frame = try self.reader.withLock({ try $0.next() }) {
                return String(decoding: frame.slice, as: UTF8.self)
            }
            guard let bytes = try await self.connection.read() else { return nil }
            self.reader.withLock { $0.append(bytes) }
        }
    }

    /// Returns true when the server has received all earlier messages, because it answers a ping after them.
    func reachesServer() async throws -> Bool {
        try await self.send(#"{"jsonrpc":"2.0","id":"ping","method":"$/ping"}"#)
        return try await self.line()?.contains("pong") == true
    }

    /// Waits for some bytes, which may be a part of a line.
    func receiveSome() async throws {
        if let bytes = try await self.connection.read() { self.reader.withLock { $0.append(bytes) } }
    }

    func lines(_ count: Int) async throws -> [String] {
        var lines: [String] = []
        while lines.count < count, let line = try await self.line() { lines.append(line) }
        return lines
    }

    /// Waits until the server closes the connection, and returns whether it has.
    func isClosed() async -> Bool {
        do {
            while try await self.line() != nil {}
            return true
        } catch {
            return (error as? StreamError)?.code == .reset
        }
    }
}

/// Returns the members of a line of JSON.
func json(_ line: String?) -> [String: any Sendable] {
    guard let line else { return [:] }
    return JSONText(Array(line.utf8)).plain as? [String: any Sendable] ?? [:]
}

/// Returns the code of a response that is an error.
func code(_ line: String?) -> Int? {
    (json(line)["error"] as? [String: any Sendable])?["code"] as? Int
}
