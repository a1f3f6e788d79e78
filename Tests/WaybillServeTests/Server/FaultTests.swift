import Foundation
import Testing
import Waybill
import WaybillEventLoop
import WaybillTestSupport

@testable import WaybillServe

/// Peers that are broken, slow, hostile or dead.
///
/// Each of them ends in an error or a closed connection, and the server continues.
@Suite(.timeLimit(.minutes(2)))
struct FaultTests {
    private func withFaults(_ body: (Served) async throws -> Void) async throws {
        try await withServer { served in
            try served.bus.register("app://echo") { $0.parameters["text"] ?? "" }
            try served.bus.register("app://wait") { _ in try await hang() }
            try served.bus.expose("app://**", for: .all)
            try await body(served)
            let lines = try await served.ask(#"{"jsonrpc":"2.0","id":1,"method":"app://echo?text=on"}"#)
            #expect(lines == [#"{"jsonrpc":"2.0","id":1,"result":"on"}"#])
            #expect(await served.balances())
            #expect(await served.bus.settles())
        }
    }

    @Test
    func `a client that is killed during a call has its handler cancelled`() async throws {
        try await self.withFaults { served in
            guard case .unix(let path) = served.address else {
                Issue.record("the server does not listen on a Unix socket")
                return
            }
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            let request = #"{"jsonrpc":"2.0","id":1,"method":"app://wait"}"#
            process.arguments = [
                "python3", "-c",
                """
                import socket, time
                s = socket.socket(socket.AF_UNIX); s.connect("\(path)")
                s.sendall(b'\(request)\\n'); time.sleep(60)
                """,
            ]
            try process.run()
            #expect(await eventually { served.bus.statistics.inFlight == 1 })
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            #expect(await served.bus.settles())
            #expect(await served.balances())
            #expect(served.server.statistics.abandoned == 1 && served.bus.statistics.cancelled == 1)
        }
    }

    @Test
    func `a request that arrives byte by byte is answered`() async throws {
        try await self.withFaults { served in
            let client = try await served.client()
            for byte in Array(#"{"jsonrpc":"2.0","id":1,"method":"app://echo","params":{"text":"é😀"}}"#.utf8)
                + [10]
            {
                try await client.connection.write([byte])
            }
            #expect(try await client.line() == #"{"jsonrpc":"2.0","id":1,"result":"é😀"}"#)
        }
    }

    @Test(arguments: [
        "GET / HTTP/1.1\r\nHost: a\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"app://echo\"}\n",
        "\u{16}\u{3}\u{1}\u{0}", "Content-Length: x\r\n\r\n", "nonsense\n",
    ])
    func `bytes of another protocol get one error, and the connection is closed`(text: String) async throws {
        try await self.withFaults { served in
            let client = try await served.client()
            try await client.connection.write(Array(text.utf8))
            let reply = try await client.connection.read()
            #expect(String(decoding: reply ?? [], as: UTF8.self).contains("-32700"))
            #expect(await client.isClosed())
            #expect(served.bus.statistics.sent == 0)
        }
    }

    @Test
    func `random lines get errors or no answer`() async throws {
        try await self.withFaults { served in
            var generator = SystemRandomNumberGenerator()
            let alphabet = Array("{}[]\":,0123456789eE+-.truefalsn \\u".utf8) + [0x80, 0xFF, 0]
            for _ in 0..<20 {
                let client = try await served.client()
                for _ in 0..<50 {
                    let count = Int.random(in: 1..<60, using: &generator)
                    let bytes = (0..<count).compactMap { _ in alphabet.randomElement(using: &generator) }
                    try await client.connection.write([0x7B] + bytes + [0x0A])
                }
                try await client.send(#"{"jsonrpc":"2.0","id":"end","method":"$/ping"}"#)
                while let line = try await client.line(), !line.contains(#""end""#) {
                    #expect(code(line) != nil || line.hasPrefix("["))
                }
            }
        }
    }

    @Test
    func `the server stops reading from a client that never reads, and memory is bounded`() async throws {
        try await self.withFaults { served in
            let client = try await served.client()
            let text = String(repeating: "x", count: 4000)
            let line = Array(
                (#"{"jsonrpc":"2.0","id":1,"method":"app://echo","params":{"text":""# + text + "\"}}\n").utf8
            )
            let writer = Task { while !Task.isCancelled { try await client.connection.write(line) } }
            // When the client's socket, the server's socket and its buffer are full, the count no longer
            // changes.
            var before = -1
            var still = 0
            #expect(
                await eventually {
                    let answers = served.server.statistics.answers
                    still = answers == before ? still + 1 : 0
                    before = answers
                    return answers > 0 && still > 100
                }
            )
            #expect(before < 1000)
            // Other clients are served meanwhile.
            #expect(try await served.ask(#"{"jsonrpc":"2.0","id":1,"method":"$/ping"}"#).count == 1)
            writer.cancel()
            client.connection.abort()
        }
    }

    @Test
    func `a client that never reads does not keep the server from ending`() async throws {
        try await withServer { served in
            try served.bus.register("app://large") { _ in String(repeating: "x", count: 4 << 20) }
            try served.bus.expose("app://large")
            let client = try await served.client()
            try await client.send(#"{"jsonrpc":"2.0","id":1,"method":"app://large"}"#)
            #expect(await eventually { served.server.statistics.answers == 1 })
            // Leaving the closure cancels the server, and waits for its end.
        }
    }

    @Test
    func `a server answers hundreds of concurrent clients`() async throws {
        try await self.withFaults { served in
            let count = Scale.of(400)
            let clients = try await withThrowingTaskGroup(of: RawClient.self) { group in
                for _ in 0..<count { group.addTask { try await served.client() } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            for client in clients {
                try await client.send(#"{"jsonrpc":"2.0","id":1,"method":"app://echo?text=a"}"#)
            }
            for client in clients { #expect(try await client.line()?.contains(#""result":"a""#) == true) }
            #expect(served.server.statistics.openConnections == count)
            // Optimized code releases the clients after their last use, which closes them.
            withExtendedLifetime(clients) {}
        }
    }

    @Test
    func `a server that is started twice at the same time listens once`() async throws {
        let bus = MessageBus(configuration: .quiet)
        var configuration = RPCServer.Configuration.quiet
        configuration.admitsLoopbackWithoutToken = true
        let server = RPCServer(bus, listening: .tcp("127.0.0.1", port: 0), configuration: configuration)
        async let first = server.start()
        async let second = server.start()
        let addresses = try await [first, second]
        #expect(addresses[0] == addresses[1])
        await bus.shutDown()
    }

    @Test
    func `a stale socket file is replaced, and a second server is rejected`() async throws {
        try await withFolder { folder in
            let bus = MessageBus(configuration: .quiet)
            let address = StreamAddress.unix(folder + "/socket")
            let first = RPCServer(bus, listening: address, configuration: .quiet)
            try await first.start()
            let second = RPCServer(bus, listening: address, configuration: .quiet)
            await #expect(throws: StreamError.self) { try await second.start() }
            let running = Task { try await first.run() }
            running.cancel()
            try await running.value
            // A killed server leaves a socket at which no process listens.
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            let code = "import socket; socket.socket(socket.AF_UNIX).bind('\(folder)/socket')"
            process.arguments = ["python3", "-c", code]
            try process.run()
            process.waitUntilExit()
            #expect(FileManager.default.fileExists(atPath: folder + "/socket"))
            let third = RPCServer(bus, listening: address, configuration: .quiet)
            try await third.start()
            await bus.shutDown()
        }
    }

    @Test
    func `a call to a bus that is shut down gets the error of a shutdown`() async throws {
        try await withServer { served in
            try served.bus.register("app://a") { _ in 1 }
            try served.bus.expose("app://a")
            await served.bus.shutDown()
            #expect(
                code(try await served.ask(#"{"jsonrpc":"2.0","id":1,"method":"app://a"}"#).first) == -32009
            )
        }
    }
}
