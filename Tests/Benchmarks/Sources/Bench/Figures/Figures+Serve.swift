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
    /// A JSON-RPC server on a Unix socket, and a C program on libuv that echoes the same bytes.
    ///
    /// A client in C calls both.
    static func serving() throws -> [Figure] {
        let folder = try TemporaryFolder()
        let server = ServedOffice(in: folder)
        let peer = EchoOfLines(in: folder)
        let redis = RedisServer(at: folder.path("redis"), connections: 64)
        return [
            Figure(
                "serve.call",
                must: .ratio(2),
                goal: .ratio(1.3),
                isOnOneCore: true,
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
            Figure(
                "serve.call-64-connections",
                must: .ratio(2),
                goal: .ratio(1),
                subject: Subject("64 connections, a call over each") { try await server.callsOverMany($0) },
                peer: redis?.pings
            ),
            Figure(
                "serve.call-64-redis",
                must: .ratio(2),
                goal: .ratio(1),
                subject: Subject("64 calls at a time") { try await server.client.calls($0, inFlight: 64) },
                peer: redis?.pings
            ),
            Figure("serve.stopped-reader", unit: .times, must: .value(1.1), rounds: 15) {
                try await server.slowdownByStoppedReader()
            },
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

/// A bus that is served.
private actor ServedOffice {
    private let folder: TemporaryFolder
    private let path: String
    private var office: Office?
    private var server: RPCServer?
    private var connected: LineClient?
    private var many: [LineClient] = []
    private let stays = Stays()

    init(in folder: TemporaryFolder) {
        self.folder = folder
        self.path = folder.path("office")
    }

    /// The client of the server.
    ///
    /// Figures are measured one after the other, so they can share it.
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
            await message.reply(with: Int(MonotonicTime.now))
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

    /// Makes calls over 64 connections, one at a time over each.
    func callsOverMany(_ count: Int) async throws -> UInt64 {
        try await self.open()
        while self.many.count < 64 { self.many.append(try LineClient(at: self.path)) }
        return try LineClient.calls(count, over: self.many)
    }

    /// Returns the factor by which the slowest hundredth of the calls of 50 clients gets slower, when another
    /// client sends calls without end and reads no answer.
    func slowdownByStoppedReader() async throws -> Double {
        try await self.open()
        let clients = try (0..<50).map { _ in try LineClient(at: self.path) }
        let before = try Self.slowest(clients)
        let stopped = try LineClient(at: self.path)
        try stopped.stuff()
        let meanwhile = try Self.slowest(clients)
        let after = try withExtendedLifetime(stopped) { try Self.slowest(clients) }
        // The two cases take turns, so that other load affects both equally. The figure is the median.
        return (meanwhile + after) / 2 / before
    }

    /// Returns the time that one hundredth of the calls exceeds.
    private static func slowest(_ clients: [LineClient]) throws -> Double {
        let times = try LineClient.latencies(20_000, over: clients).each.sorted()
        return Double(times[times.count * 99 / 100])
    }

    /// Returns the number of kilobytes by which the heap grows for each connection that has made one call.
    func memoryOfIdleConnection() async throws -> Double {
        try await self.open()
        let count = 1000
        // The first connections allocate shared state, which does not count.
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
            if MonotonicTime.now - start > 5_000_000_000 { throw ConnectionFailure() }
            await Task.yield()
        }
    }
}

/// Handlers that run until they are cancelled.
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

/// The echo server in C, which starts at its first use.
private actor EchoOfLines {
    private let folder: TemporaryFolder
    private let path: String
    private var connected: LineClient?

    init(in folder: TemporaryFolder) {
        self.folder = folder
        self.path = folder.path("echo")
    }

    var client: LineClient {
        get throws {
            if let connected = self.connected { return connected }
            // The C function copies the path.
            if unsafe measure_uv_unix_echo_server(self.path) != 0 { throw ConnectionFailure() }
            let client = try LineClient(at: self.path)
            self.connected = client
            return client
        }
    }
}
