#if NATS
package import WaybillEventLoop
internal import WaybillTestSupport

/// A NATS server that announces TLS to each client, and then never answers.
package final class StallingServer: Sendable {
    private let listener: StreamListener
    private let connections = Journal<StreamConnection>()

    /// Starts a server on a free port of loopback.
    package init(on eventLoop: EventLoop) async throws {
        let listener = try await StreamListener.bind(.tcp("127.0.0.1", port: 0), on: eventLoop)
        self.listener = listener
        Task { [connections] in
            let info = #"INFO {"server_id":"A","version":"2.9.0","max_payload":1048576,"tls_required":true}"#
            for try await connection in listener.connections {
                try await connection.write(Array("\(info)\r\n".utf8))
                connections.add(connection)
            }
        }
    }

    /// The URL of the server.
    package var url: String { "nats://\(self.listener.address)" }

    /// The number of clients that have connected.
    package var count: Int { self.connections.entries.count }

    /// Stops the server, which closes all connections.
    package func stop() {
        self.listener.close()
        for connection in self.connections.entries { connection.close() }
    }
}
#endif
