import Foundation
import Testing
import Waybill
import WaybillEventLoop
import WaybillRouting
import WaybillTestSupport

@testable import WaybillServe

@Suite(.timeLimit(.minutes(1)))
struct ReconnectTests {
    private func connector(_ address: StreamAddress, token: String? = nil) -> RPCConnector {
        var configuration = RPCConnector.Configuration.quiet
        configuration.firstPause = .milliseconds(1)
        configuration.longestPause = .milliseconds(10)
        configuration.token = token
        return RPCConnector(address, configuration: configuration)
    }

    @Test
    func `requests in flight fail at once when the server ends, and the next request reconnects`()
        async throws
    {
        try await withFolder { folder in
            let address = StreamAddress.unix(folder + "/socket")
            let near = MessageBus(configuration: .quiet)
            try near.connect("far", to: self.connector(address))
            for _ in 0..<3 {
                let started = Journal<Task<RoutingError?, Never>>()
                #expect(await failure { try await near.route("far://a") }?.code == .unreachable)
                try await withServer(at: address) { far in
                    let gate = Gate()
                    try far.bus.register("far://a") { _ in 1 }
                    try far.bus.register("far://wait") { _ in
                        gate.reach()
                        try await hang()
                    }
                    try far.bus.expose("far://**")
                    #expect(try await near.route("far://a", as: Int.self) == 1)
                    let waiting = Task { await failure { try await near.route("far://wait") } }
                    await gate.reached()
                    started.add(waiting)
                    // The end of the closure kills the server.
                }
                #expect(await near.settles())
                #expect(await started.entries.first?.value?.code == .unreachable)
            }
            await near.shutDown()
        }
    }

    @Test func `a request fails when the server ends just after it has accepted the token`() async throws {
        let serverLoop = EventLoop(name: "server")
        let listener = try await StreamListener.bind(.tcp("127.0.0.1", port: 0), on: serverLoop)
        let serving = Task {
            try await listener.serve { connection in
                guard let bytes = try await connection.read() else { return }
                let id = String(decoding: bytes, as: UTF8.self).split(separator: "\"id\":")[1].prefix {
                    $0.isNumber
                }
                try await connection.write(Array("{\"jsonrpc\":\"2.0\",\"id\":\(id),\"result\":true}\n".utf8))
            }
        }
        // While its loop is busy, a client often reads the end of the connection before its request continues.
        let loop = EventLoop(name: "client")
        let isOver = Locked(false)
        @Sendable func occupy() {
            let end = ContinuousClock.now + .milliseconds(1)
            while .now < end {}
            if !isOver.withLock({ $0 }) { loop.execute { occupy() } }
        }
        loop.execute { occupy() }
        for _ in 0..<20 {
            var configuration = RPCConnector.Configuration.quiet
            configuration.token = "secret"
            let client = RPCClient(listener.address, configuration, on: loop)
            await #expect(throws: RPCRequestError.self) { try await client.request("app://a") }
        }
        isOver.withLock { $0 = true }
        serving.cancel()
        await loop.shutDown()
        await serverLoop.shutDown()
    }

    @Test
    func `callers fail when the server's process is killed during a call`() async throws {
        try await withFolder { folder in
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            let code = """
                import socket, time
                s = socket.socket(socket.AF_UNIX); s.bind("\(folder)/socket"); s.listen(); open("\(folder)/listens", "w")
                c, _ = s.accept(); c.recv(1); open("\(folder)/received", "w"); time.sleep(60)
                """
            process.arguments = ["python3", "-c", code]
            try process.run()
            func exists(_ name: String) -> Bool {
                FileManager.default.fileExists(atPath: "\(folder)/\(name)")
            }
            #expect(await eventually { exists("listens") })
            let near = MessageBus(configuration: .quiet)
            try near.connect("far", to: self.connector(.unix(folder + "/socket")))
            let caller = Task { await failure { try await near.route("far://a") } }
            #expect(await eventually { exists("received") })
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            #expect(await caller.value?.code == .unreachable)
            await near.shutDown()
        }
    }

    @Test
    func `a token is sent first, and a wrong token is rejected`() async throws {
        var configuration = RPCServer.Configuration.quiet
        configuration.token = "secret"
        try await withServer(at: .tcp("127.0.0.1", port: 0), configuration: configuration) { far in
            try far.bus.register("far://a") { _ in 1 }
            try far.bus.expose("far://**")
            let near = MessageBus(configuration: .quiet)
            try near.connect("far", to: self.connector(far.address, token: "secret"))
            #expect(try await near.route("far://a", as: Int.self) == 1)
            try near.connect("far", to: self.connector(far.address, token: "wrong"))
            let error = await failure { try await near.route("far://a") }
            #expect(error?.code == .refused && error?.url == "far://a")
            await near.shutDown()
        }
    }

    @Test
    func `a client that is closed while it connects keeps no connection`() async throws {
        try await withServer { far in
            let client = RPCClient(far.address, .quiet)
            let reply = await client.pingAndClose()
            let error = await #expect(throws: RPCRequestError.self) { try await reply.value }
            #expect(error?.code == .unreachable)
            #expect(await far.balances())
        }
    }

    @Test
    func `a request fails at once when its client is closed during the pause between two attempts`()
        async throws
    {
        try await withFolder { folder in
            var configuration = RPCConnector.Configuration.quiet
            configuration.firstPause = .seconds(3600)
            configuration.longestPause = .seconds(3600)
            let client = RPCClient(.unix(folder + "/nothing"), configuration)
            await #expect(throws: RPCRequestError.self) { try await client.request("$/ping") }
            let waiting = Task { try await client.request("$/ping") }
            #expect(await eventually { await client.waiting?.count == 1 })
            client.close()
            let error = await #expect(throws: RPCRequestError.self) { try await waiting.value }
            #expect(error?.code == .unreachable)
            #expect(error?.message.contains("disconnected") == true)
            let later = await #expect(throws: RPCRequestError.self) { try await client.request("$/ping") }
            #expect(later?.code == .unreachable)
        }
    }

    @Test(arguments: [nil, "secret"])
    func `a connector pings a silent server, and then closes the connection`(token: String?) async throws {
        let loop = EventLoop(name: "silent")
        let listener = try await StreamListener.bind(.tcp("127.0.0.1", port: 0), on: loop)
        let received = Journal<String>()
        let server = Task {
            try await listener.serve { connection in
                for try await bytes in connection.bytes {
                    received.add(String(decoding: bytes, as: UTF8.self))
                }
            }
        }
        let near = MessageBus(configuration: .quiet)
        var configuration = RPCConnector.Configuration.quiet
        configuration.pingInterval = .milliseconds(20)
        configuration.token = token
        try near.connect("far", to: RPCConnector(listener.address, configuration: configuration))
        for count in 1...2 {
            let error = await failure { try await near.route("far://a") }
            #expect(error?.code == .unreachable)
            #expect(
                await eventually { received.entries.joined().split(separator: "$/ping").count == count + 1 }
            )
        }
        server.cancel()
        await near.shutDown()
    }

    /// Runs a bus with the connector `far` to a server that accepts connections and never reads.
    private func withDeafServer(
        _ change: (inout RPCConnector.Configuration) -> Void,
        _ body: (MessageBus, RPCClient) async throws -> Void
    ) async throws {
        let listener = try await StreamListener.bind(.tcp("127.0.0.1", port: 0), on: EventLoop(name: "deaf"))
        let server = Task {
            try await listener.serve { _ in try await Task.sleep(for: .seconds(600)) }
        }
        let near = MessageBus(configuration: .quiet)
        var configuration = RPCConnector.Configuration.quiet
        change(&configuration)
        try near.connect("far", to: RPCConnector(listener.address, configuration: configuration))
        let client = RPCClient(listener.address, configuration)
        try await body(near, client)
        client.close()
        server.cancel()
        await near.shutDown()
    }

    @Test
    func `requests are rejected while the server has not read too many bytes of earlier requests`()
        async throws
    {
        try await self.withDeafServer {
            $0.unsentBytes = 200_000
        } _: { near, _ in
            let text = String(repeating: "x", count: 100_000)
            var codes: Set<RoutingError.Code> = []
            // The system accepts some megabytes for a connection. On a busy machine, many requests expire before
            // they are sent.
            let end = ContinuousClock.now + .seconds(40)
            while ContinuousClock.now < end, !codes.contains(.mailboxFull) {
                let error = await failure {
                    try await near.route(
                        "far://a",
                        parameters: ["text": text],
                        timeout: .milliseconds(20)
                    )
                }
                if let error { codes.insert(error.code) }
            }
            #expect(codes == [.deadlineExceeded, .mailboxFull])
        }
    }

    @Test
    func `an attempt to connect ends if the server does not answer the token in time`() async throws {
        try await self.withDeafServer {
            ($0.token, $0.pingInterval, $0.connectTimeout) = ("secret", nil, .milliseconds(500))
        } _: { near, _ in
            let error = await failure { try await near.route("far://a") }
            #expect(error?.code == .unreachable && error?.message.contains("the token in time") == true)
        }
    }

    @Test
    func `the time limit of a request includes the wait for the connection`() async throws {
        try await self.withDeafServer {
            ($0.token, $0.pingInterval, $0.connectTimeout) = ("secret", nil, .seconds(600))
        } _: { _, client in
            var options = RPCRequestOptions()
            options.timeLeft = .milliseconds(10)
            let error = await #expect(throws: RPCRequestError.self) {
                try await client.request("app://a", options)
            }
            #expect(error?.code == .deadlineExceeded)
        }
    }

    @Test
    func `a subscription pauses before it connects to a server that closes each connection`() async throws {
        let connections = Tally()
        let loop = EventLoop(name: "closing")
        let listener = try await StreamListener.bind(.tcp("127.0.0.1", port: 0), on: loop)
        let server = Task {
            try await listener.serve { connection in
                connections.add()
                for try await _ in connection.bytes {
                    try await connection.write(Array(#"{"jsonrpc":"2.0","id":1,"result":1}"#.utf8) + [0x0A])
                    break
                }
                connection.close()
            }
        }
        let reader = Task {
            for try await _ in RPCConnector(listener.address).subscription(to: "app://**") {}
        }
        #expect(await eventually { connections.count >= 3 })
        try await Task.sleep(for: .milliseconds(200))
        #expect(connections.count < 10)
        reader.cancel()
        server.cancel()
    }

    @Test
    func `the pauses between connection attempts double, up to a limit, until one succeeds`() {
        let now = ContinuousClock.now
        var backoff = Backoff(first: .milliseconds(10), limit: .milliseconds(50))
        #expect(backoff.delay(at: now) == nil)
        for longest in [10, 20, 40, 50, 50] {
            backoff.failed(at: now, share: 0.5)
            #expect(backoff.delay(at: now) == .milliseconds(longest) / 2)
        }
        #expect(backoff.delay(at: now + .seconds(1)) == nil)
        backoff.ended(after: .milliseconds(49), at: now)
        #expect(backoff.delay(at: now) != nil)
        backoff.ended(after: .milliseconds(50), at: now)
        #expect(backoff.delay(at: now) == nil)
    }
}

extension RPCClient {
    /// Sends a ping, and closes the client before it is connected.
    fileprivate func pingAndClose() -> Task<String, any Error> {
        let reply = Task.immediate { try await self.request("$/ping") }
        self.close()
        return reply
    }
}
