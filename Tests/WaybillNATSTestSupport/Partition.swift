internal import WaybillEventLoop
internal import WaybillRouting

/// A connection between a node and a NATS server that a test can cut.
///
/// While it is cut, no bytes arrive at either end, and neither end is notified. It listens at a free port of
/// loopback. New connections are then accepted and not answered, like connections to an address that drops
/// packets.
package final class Partition: Sendable {
    /// The URL to which nodes connect.
    package let url: String
    private let loop: EventLoop
    private let listener: StreamListener
    private let task: Task<Void, any Error>
    private let way: Way

    /// Whether the connection is cut, and the tasks that wait for its repair.
    private final class Way: Sendable {
        private let state = Locked<(isCut: Bool, waiting: [CheckedContinuation<Void, Never>])>((false, []))

        func cut() { self.state.withLock { $0.isCut = true } }

        func heal() {
            let waiting = self.state.withLock { state in
                defer { state = (false, []) }
                return state.waiting
            }
            for continuation in waiting { continuation.resume() }
        }

        func wait() async {
            guard self.state.withLock({ $0.isCut }) else { return }
            await withCheckedContinuation { continuation in
                let isCut = self.state.withLock { state in
                    if state.isCut { state.waiting.append(continuation) }
                    return state.isCut
                }
                if !isCut { continuation.resume() }
            }
        }
    }

    /// Starts to forward connections to a server.
    package init(to server: String) async throws {
        let port = server.split(separator: ":").last.flatMap { Int($0) } ?? 0
        let (loop, way) = (EventLoop(name: "partition"), Way())
        let listener = try await StreamListener.bind(.tcp("127.0.0.1", port: 0), on: loop)
        (self.loop, self.way, self.listener) = (loop, way, listener)
        guard case .tcp(_, let own) = listener.address else {
            throw StreamError(.invalidAddress, message: "it has no port")
        }
        self.url = "nats://127.0.0.1:\(own)"
        self.task = Task {
            try await listener.serve { client in
                await way.wait()
                let server = try await StreamConnection.connect(to: .tcp("127.0.0.1", port: port), on: loop)
                await withTaskGroup(of: Void.self) { group in
                    group.addTask { await Self.forward(client, to: server, way) }
                    group.addTask { await Self.forward(server, to: client, way) }
                }
            }
        }
    }

    private static func forward(_ source: StreamConnection, to target: StreamConnection, _ way: Way) async {
        while let bytes = try? await source.read() {
            await way.wait()
            do { try await target.write(bytes) } catch { break }
        }
        // While it is cut, the end of a connection is not forwarded either.
        await way.wait()
        source.close()
        target.close()
    }

    package func cut() { self.way.cut() }

    package func heal() { self.way.heal() }

    package func end() async {
        self.heal()
        self.listener.close()
        self.task.cancel()
        _ = try? await self.task.value
        await self.loop.shutDown()
    }
}
