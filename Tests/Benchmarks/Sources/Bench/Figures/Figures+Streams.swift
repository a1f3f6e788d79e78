import CMeasure
import Measure
import Subjects
import WaybillEventLoop

extension Figures {
    /// An echo server on a loop, and one in C on libuv.
    ///
    /// A client in C calls both.
    static func streams() -> [Figure] {
        let (echo, peer) = (EchoServer { try await Self.listen() }, EchoServer { measure_uv_echo_server() })
        return [
            Figure(
                "stream.echo",
                must: .ratio(1 / 0.9),
                goal: .ratio(1),
                isOnOneCore: true,
                subject: Subject("64 bytes and back") { try await echo.client.pingPong($0) },
                peer: Subject("libuv in C") { try await peer.client.pingPong($0) }
            ),
            Figure(
                "stream.echo-64k",
                must: .ratio(1 / 0.9),
                goal: .ratio(1),
                subject: Subject("a block of 64 KB and back") { try await echo.client.stream($0) },
                peer: Subject("libuv in C") { try await peer.client.stream($0) }
            ),
        ]
    }

    /// Starts an echo server, and returns its port.
    private static func listen() async throws -> Int32 {
        let loop = EventLoop.quiet("echo")
        let listener = try await StreamListener.bind(.tcp("127.0.0.1", port: 0), on: loop)
        guard case .tcp(_, let port) = listener.address else { throw EchoError() }
        Task.detached {
            try await listener.serve { connection in
                for try await bytes in connection.bytes { try await connection.write(bytes) }
            }
        }
        return Int32(port)
    }
}

/// An echo server that starts at its first use.
private actor EchoServer {
    private let start: @Sendable () async throws -> Int32
    private var connected: EchoClient?

    init(_ start: @escaping @Sendable () async throws -> Int32) { self.start = start }

    /// The client of the server.
    ///
    /// Figures are measured one after the other, so they can share it.
    var client: EchoClient {
        get async throws {
            if let connected = self.connected { return connected }
            let client = try EchoClient(port: try await self.start())
            self.connected = client
            return client
        }
    }
}

/// A connection of the client in C.
private final class EchoClient: Sendable {
    private let descriptor: Int32

    init(port: Int32) throws {
        self.descriptor = measure_echo_connect(port)
        if self.descriptor < 0 { throw EchoError() }
    }

    deinit { measure_echo_disconnect(self.descriptor) }

    func pingPong(_ count: Int) throws -> UInt64 {
        try Self.time(measure_echo_ping_pong(self.descriptor, UInt64(count)))
    }

    func stream(_ count: Int) throws -> UInt64 {
        try Self.time(measure_echo_stream(self.descriptor, UInt64(count)))
    }

    private static func time(_ nanoseconds: UInt64) throws -> UInt64 {
        if nanoseconds == 0 { throw EchoError() }
        return nanoseconds
    }
}

/// The connection to an echo server failed.
private struct EchoError: Error {}
