internal import Foundation
internal import Testing
import WaybillTestSupport

@testable internal import WaybillEventLoop

@Suite(.timeLimit(.minutes(1)))
struct ConnectTests {
    private let loop = EventLoop(name: "client")

    @Test
    func `connecting to a port without a server fails with refused`() async throws {
        let address = try await withListener { listener, _ in listener.address }
        let error = await #expect(throws: StreamError.self) {
            try await StreamConnection.connect(to: address, on: self.loop)
        }
        #expect(error?.code == .refused)
        #expect(error?.address == address)
        #expect(error?.message == "could not connect to \(address): connection refused")
        #expect(error.map { "\($0)" }?.hasSuffix("; start the server, or try again later") ?? false)
    }

    @Test
    func `connecting to a path without a socket fails with refused`() async {
        let code = await failure {
            _ = try await StreamConnection.connect(to: .unix("/tmp/waybill-no-socket"), on: self.loop)
        }
        #expect(code == .refused)
    }

    @Test(arguments: [
        StreamAddress.unix(""), .unix("/tmp/" + String(repeating: "x", count: 200)), .unix("/tmp/a\0b"),
        .tcp("127.0.0.1", port: 65536), .tcp("localhost", port: -1), .tcp("localhost\0.a", port: 1),
    ])
    func `an invalid address is rejected before the first system call`(address: StreamAddress) async {
        let connecting = await failure {
            _ = try await StreamConnection.connect(to: address, on: self.loop)
        }
        #expect(connecting == .invalidAddress)
        let listening = await failure { _ = try await StreamListener.bind(address, on: self.loop) }
        #expect(listening == .invalidAddress)
    }

    @Test(arguments: [(60, 60), (7, 7), (1e19, 32_767), (nil, nil)] as [(Double?, Int?)])
    func `keepAliveTime sets the socket's keep-alive options`(time: Double?, seconds: Int?) async throws {
        var options = StreamOptions()
        options.keepAliveTime = time.map { .seconds($0) }
        try await withListener(options: options) { listener, loop in
            let client = try await StreamConnection.connect(to: listener.address, on: loop, options: options)
            var connections = listener.connections.makeAsyncIterator()
            let server = try #require(try await connections.next())
            for connection in [client, server] {
                let isAsked = await loop.run {
                    option(of: connection.core.descriptor, SOL_SOCKET, SO_KEEPALIVE)
                }
                #expect(isAsked == (seconds == nil ? 0 : 1))
                guard let seconds else { continue }
                let after = await loop.run {
                    option(of: connection.core.descriptor, Int32(IPPROTO_TCP), silenceBeforeProbe)
                }
                #expect(after == Int32(seconds))
            }
        }
    }

    @Test
    func `connecting to an unknown host name fails with hostNotFound`() async {
        let code = await failure {
            _ = try await StreamConnection.connect(to: .tcp("no-host.invalid", port: 1), on: self.loop)
        }
        #expect(code == .hostNotFound)
    }

    @Test
    func `connecting to a server that does not answer times out`() async throws {
        try await self.withBlackHole { address in
            var options = StreamOptions()
            options.connectTimeout = .milliseconds(30)
            let start = ContinuousClock.now
            let code = await failure {
                _ = try await StreamConnection.connect(to: address, on: self.loop, options: options)
            }
            #expect(code == .timedOut)
            #expect(start.duration(to: .now) >= .milliseconds(30))
        }
    }

    @Test
    func `an address that does not answer leaves time for the other addresses of the host`() async throws {
        try await self.withBlackHole { silent in
            try await withListener { listener, loop in
                let candidates = try [silent, listener.address].map { address in
                    guard case .tcp(let host, let port) = address else { throw CancellationError() }
                    return try #require(SocketAddress(ip: host, port: port))
                }
                let connection = try await StreamConnection.connect(
                    to: .tcp("localhost", port: 1),
                    trying: candidates,
                    on: self.loop,
                    until: self.loop.core.deadline(after: .seconds(2)),
                    options: StreamOptions()
                )
                #expect(connection.peer == listener.address)
                connection.close()
            }
        }
    }

    @Test
    func `connecting can be cancelled, before and during the wait`() async throws {
        try await self.withBlackHole { address in
            for delay in [0, 20] {
                let client = Task { try await StreamConnection.connect(to: address, on: self.loop) }
                try await Task.sleep(for: .milliseconds(delay))
                client.cancel()
                #expect(await failure { _ = try await client.value } == .cancelled)
            }
        }
    }

    @Test
    func `a loop that shuts down ends connection attempts and rejects new ones`() async throws {
        try await self.withBlackHole { address in
            let loop = EventLoop(name: "client")
            let client = Task { try await StreamConnection.connect(to: address, on: loop) }
            try await Task.sleep(for: .milliseconds(20))
            await loop.shutDown()
            #expect(await failure { _ = try await client.value } == .shutDown)
            let late = await failure { _ = try await StreamConnection.connect(to: address, on: loop) }
            #expect(late == .shutDown)
        }
    }

    @Test
    func `a connection over a Unix socket has the user ID of its peer`() async throws {
        try await withPair(.unix) { client, server, _ in
            #expect(client.peerUserID == server.peerUserID)
            #expect(server.peerUserID == UInt32(geteuid()))
            #expect(server.peer == .unix(""))
        }
    }

    /// Runs a closure with the address of a listener that accepts no connection, and whose backlog is full.
    private func withBlackHole(_ body: (StreamAddress) async throws -> Void) async throws {
        var options = StreamOptions()
        options.backlog = 0
        options.connectTimeout = .milliseconds(50)
        try await withListener(options: options) { listener, loop in
            var fillers: [StreamConnection] = []
            do {
                while fillers.count < 100 {
                    fillers.append(
                        try await StreamConnection.connect(to: listener.address, on: loop, options: options)
                    )
                }
            } catch {
                #expect((error as? StreamError)?.code == .timedOut)
            }
            try await body(listener.address)
        }
    }
}

#if canImport(Darwin)
private let silenceBeforeProbe = TCP_KEEPALIVE
#else
private let silenceBeforeProbe = TCP_KEEPIDLE
#endif

/// Returns a numeric option of a socket.
private func option(of descriptor: Int32, _ level: Int32, _ name: Int32) -> Int32 {
    var value: Int32 = -1
    var size = socklen_t(MemoryLayout<Int32>.size)
    // Both variables are valid during the call.
    guard unsafe getsockopt(descriptor, level, name, &value, &size) == 0 else { return -1 }
    return value
}
