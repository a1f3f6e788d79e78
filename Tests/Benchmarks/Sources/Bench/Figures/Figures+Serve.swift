import CMeasure
import Foundation
import Logging
import Measure
import Subjects
import Synchronization
import Waybill
import WaybillEventLoop
import WaybillServe

extension Figures {
    /// A server of JSON-RPC on a Unix socket, and an echo of the same bytes in C on libuv; a client in C asks
    /// both.
    static func serving() throws -> [Figure] {
        let folder = try SocketFolder()
        let server = ServedOffice(in: folder)
        let peer = EchoOfLines(in: folder)
        return [
            Figure(
                "serve.call",
                must: .ratio(2),
                goal: .ratio(1.3),
                subject: Subject("a call over a Unix socket") { try await server.client.calls($0) },
                peer: Subject("libuv echo in C") { try await peer.client.calls($0) }
            ),
            Figure(
                "serve.call-64",
                must: .value(1_000_000_000 / 60_000),
                goal: .value(1_000_000_000 / 150_000),
                subject: Subject("64 calls at a time") { try await server.client.calls($0, inFlight: 64) },
                peer: Subject("libuv echo in C") { try await peer.client.calls($0, inFlight: 64) }
            ),
            Figure("serve.progress", unit: .milliseconds, must: .value(5), goal: .value(1), rounds: 21) {
                try await server.client.delayOfProgress()
            },
            Figure("serve.idle-memory", unit: .kilobytes, must: .value(16), goal: .value(6)) {
                try await server.memoryOfIdleConnection()
            },
            Figure("serve.cancel", unit: .milliseconds, must: .value(10)) {
                try await server.slowestCancellation(of: 1000)
            },
        ]
    }
}

/// A temporary folder for sockets, which is there as long as it is held.
private final class SocketFolder: Sendable {
    private let folder = "/tmp/waybill-bench-\(ProcessInfo.processInfo.processIdentifier)"

    init() throws {
        try FileManager.default.createDirectory(atPath: self.folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: self.folder) }

    func path(_ name: String) -> String { "\(self.folder)/\(name)" }
}

/// A bus that is served.
private actor ServedOffice {
    private let folder: SocketFolder
    private let path: String
    private var office: Office?
    private var server: RPCServer?
    private var connected: LineClient?
    private let stays = Stays()

    init(in folder: SocketFolder) {
        self.folder = folder
        self.path = folder.path("office")
    }

    /// The client that is connected to it; figures are measured one after the other.
    var client: LineClient {
        get async throws {
            if let connected = self.connected { return connected }
            try await self.open()
            let client = try LineClient(at: self.path)
            self.connected = client
            return client
        }
    }

    private func open() async throws {
        guard self.server == nil else { return }
        let office = try Office(on: EventLoop.quiet("office"))
        let stays = self.stays
        try office.bus.register("app://user/progress") { message async throws -> Int in
            try await message.reply(with: Int(MonotonicTime.now))
            return 0
        }
        try office.bus.register("app://user/stay") { _ async throws -> Int in
            stays.began()
            do {
                try await Task.sleep(for: .seconds(60))
            } catch {
                stays.ended(at: MonotonicTime.now)
                throw error
            }
            return 0
        }
        try office.bus.expose("app://user/**")
        var configuration = RPCServer.Configuration()
        configuration.limits.requestsPerSecond = 100_000_000
        configuration.logger.logLevel = .critical
        let server = RPCServer(office.bus, listening: .unix(self.path), configuration: configuration)
        try await server.start()
        Task.detached { try await server.run() }
        self.office = office
        self.server = server
    }

    /// How many kilobytes the heap grows by a connection that has asked once.
    func memoryOfIdleConnection() async throws -> Double {
        try await self.open()
        let count = 1000
        // What the first connections make is not of each.
        var clients = try (0..<10).map { _ in try LineClient(at: self.path) }
        for client in clients { try client.calls(1) }
        let before = measure_heap_in_use()
        for _ in 0..<count {
            let client = try LineClient(at: self.path)
            try client.calls(1)
            clients.append(client)
        }
        let after = measure_heap_in_use()
        return withExtendedLifetime(clients) {
            Double(max(after, before) - before) / Double(count) / 1024
        }
    }

    /// The longest time from the end of a connection to the cancellation of its handler, in milliseconds.
    func slowestCancellation(of count: Int) async throws -> Double {
        try await self.open()
        var slowest: UInt64 = 0
        for _ in 0..<count {
            let ends = self.stays.ends
            let begins = self.stays.begins
            var client = Optional(try LineClient(at: self.path))
            try client?.send("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"app://user/stay\"}\n")
            try await Self.wait { self.stays.begins > begins }
            let closed = MonotonicTime.now
            client = nil
            try await Self.wait { self.stays.ends > ends }
            slowest = max(slowest, self.stays.lastEnd - closed)
        }
        return Double(slowest) / 1_000_000
    }

    private static func wait(until condition: () -> Bool) async throws {
        let start = MonotonicTime.now
        while !condition() {
            if MonotonicTime.now - start > 5_000_000_000 { throw ServeError() }
            await Task.yield()
        }
    }
}

/// Handlers that stay until they are cancelled.
private final class Stays: Sendable {
    private let begun = Atomic(0)
    private let ended = Atomic(0)
    private let lastEnded = Atomic<UInt64>(0)

    func began() { self.begun.add(1, ordering: .sequentiallyConsistent) }

    func ended(at time: UInt64) {
        self.lastEnded.store(time, ordering: .sequentiallyConsistent)
        self.ended.add(1, ordering: .sequentiallyConsistent)
    }

    var begins: Int { self.begun.load(ordering: .sequentiallyConsistent) }
    var ends: Int { self.ended.load(ordering: .sequentiallyConsistent) }
    var lastEnd: UInt64 { self.lastEnded.load(ordering: .sequentiallyConsistent) }
}

/// The echo server in C, which is started when it is first asked.
private actor EchoOfLines {
    private let folder: SocketFolder
    private let path: String
    private var connected: LineClient?

    init(in folder: SocketFolder) {
        self.folder = folder
        self.path = folder.path("echo")
    }

    var client: LineClient {
        get throws {
            if let connected = self.connected { return connected }
            if measure_uv_unix_echo_server(self.path) != 0 { throw ServeError() }
            let client = try LineClient(at: self.path)
            self.connected = client
            return client
        }
    }
}

/// A connection of the client in C.
private final class LineClient: Sendable {
    private static let call =
        "{\"jsonrpc\":\"2.0\",\"id\":12345678,\"method\":\"app://user/detail?uid=7\",\"params\":{}}\n"
    private static let callWithProgress =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"app://user/progress\","
        + "\"params\":{\"$waybill\":{\"progress\":true}}}\n"
    /// Where the digits of the ID begin.
    private static let idOffset = 22

    private let descriptor: Int32

    init(at path: String) throws {
        self.descriptor = measure_unix_connect(path)
        if self.descriptor < 0 { throw ServeError() }
    }

    deinit { measure_echo_disconnect(self.descriptor) }

    @discardableResult
    func calls(_ count: Int, inFlight: Int = 1) throws -> UInt64 {
        let time = measure_line_calls(
            self.descriptor,
            Self.call,
            Self.idOffset,
            UInt64(count),
            UInt64(inFlight)
        )
        if time == 0 { throw ServeError() }
        return time
    }

    /// How many milliseconds after a handler has sent a progress reply it is here.
    func delayOfProgress() throws -> Double {
        let delay = measure_line_delay(self.descriptor, Self.callWithProgress, "\"value\":")
        if delay == 0 { throw ServeError() }
        return Double(delay) / 1_000_000
    }

    /// Sends a line whose answer is not awaited.
    func send(_ line: String) throws {
        if measure_line_send(self.descriptor, line) != 0 { throw ServeError() }
    }
}

/// A connection failed, or what has to happen did not.
private struct ServeError: Error {}
