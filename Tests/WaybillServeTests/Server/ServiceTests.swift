#if Serve
import ServiceLifecycle
import ServiceLifecycleTestKit
import Testing
import Waybill
import WaybillEventLoop
import WaybillTestSupport

@testable import WaybillServe

@Suite(.timeLimit(.minutes(1)))
struct ServiceTests {
    @Test
    func `a server shuts down in time while a peer waits for its turn to send`() async throws {
        try await withFolder { folder in
            let bus = MessageBus(configuration: .quiet)
            try bus.register("app://a") { _ in 1 }
            try bus.expose("app://a")
            var configuration = RPCServer.Configuration.quiet
            configuration.limits.requestsPerSecond = 1
            configuration.drainLimit = .zero
            let server = RPCServer(bus, listening: .unix(folder + "/socket"), configuration: configuration)
            let address = try await server.start()
            let running = Task { try await server.run() }
            let client = RawClient(try await StreamConnection.connect(to: address, on: bus.eventLoop))
            let messages = Array(repeating: "{}", count: 1000).joined(separator: ",")
            let params = "{\"url\":\"app://a\",\"messages\":[\(messages)]}"
            try await client.send(
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"$/publish\",\"params\":\(params)}"
            )
            _ = try await client.line()
            try await client.send(#"{"jsonrpc":"2.0","id":2,"method":"app://a"}"#)
            try await Task.sleep(for: .milliseconds(100))
            server.beginGracefulShutdown()
            try await running.value
            await bus.shutDown()
        }
    }

    @Test
    func `a request that waits for an answer of its peer ends while the server shuts down`() async throws {
        try await withFolder { folder in
            let bus = MessageBus(configuration: .quiet)
            try bus.register("app://ask") { message async throws -> Bool in
                try await message.reply(with: "Continue?", expecting: Bool.self)
            }
            try bus.expose("app://ask")
            let server = RPCServer(bus, listening: .unix(folder + "/socket"), configuration: .quiet)
            let address = try await server.start()
            let running = Task { try await server.run() }
            let client = RawClient(try await StreamConnection.connect(to: address, on: bus.eventLoop))
            let params = #"{"$waybill":{"progress":true,"answers":true}}"#
            for id in 1...2 {
                try await client.send(
                    #"{"jsonrpc":"2.0","id":\#(id),"method":"app://ask","params":\#(params)}"#
                )
                #expect(try await client.line()?.contains("Continue?") == true)
            }
            server.beginGracefulShutdown()
            try await client.send(#"{"jsonrpc":"2.0","method":"$/answer","params":{"id":1,"value":true}}"#)
            #expect(try await client.line() == #"{"jsonrpc":"2.0","id":1,"result":true}"#)
            // A new request is rejected, but a request may send the answer.
            try await client.send(#"{"jsonrpc":"2.0","id":3,"method":"$/ping"}"#)
            #expect(try await client.line()?.contains("-32009") == true)
            try await client.send(
                #"{"jsonrpc":"2.0","id":4,"method":"$/answer","params":{"id":2,"value":true}}"#
            )
            let answers = try await client.lines(2)
            #expect(Set(answers.map { json($0)["id"] as? Int }) == [2, 4])
            #expect(await client.isClosed())
            try await running.value
            await bus.shutDown()
        }
    }

    @Test
    func `a service group with a server waits for requests in flight, and closes the connections`()
        async throws
    {
        try await withFolder { folder in
            let bus = MessageBus(configuration: .quiet)
            let gate = Gate()
            try bus.register("app://slow") { _ -> Int in
                await gate.wait()
                return 1
            }
            try bus.expose("app://slow")
            let server = RPCServer(bus, listening: .unix(folder + "/socket"), configuration: .quiet)
            let address = try await server.start()
            try await testGracefulShutdown { trigger in
                let running = Task { try await server.run() }
                let loop = bus.eventLoop
                let client = RawClient(try await StreamConnection.connect(to: address, on: loop))
                try await client.send(#"{"jsonrpc":"2.0","id":1,"method":"app://slow"}"#)
                await gate.reached()
                trigger.triggerGracefulShutdown()
                gate.open()
                #expect(try await client.line() == #"{"jsonrpc":"2.0","id":1,"result":1}"#)
                #expect(await client.isClosed())
                try await running.value
            }
            #expect(server.statistics.answers == 1 && server.statistics.abandoned == 0)
            await bus.shutDown()
        }
    }

    @Test
    func `a server that shuts down ends after its peers have received the last answers`() async throws {
        try await withFolder { folder in
            let bus = MessageBus(configuration: .quiet)
            // The system of the peer accepts a part of the answer, and the rest waits in the server.
            let length = 250_000
            try bus.register("app://large") { _ in String(repeating: "x", count: length) }
            try bus.expose("app://large")
            let server = RPCServer(bus, listening: .unix(folder + "/socket"), configuration: .quiet)
            let address = try await server.start()
            let running = Task { try await server.run() }
            let loop = EventLoop(name: "client")
            let client = RawClient(try await StreamConnection.connect(to: address, on: loop))
            try await client.send(#"{"jsonrpc":"2.0","id":1,"method":"app://large"}"#)
            #expect(await eventually { server.statistics.answers == 1 })
            server.beginGracefulShutdown()
            let ended = Task {
                try await running.value
                // Like the exit of the process, this drops the unsent bytes.
                await bus.eventLoop.shutDown()
            }
            // A server that does not wait for the peer ends in this time.
            try await Task.sleep(for: .milliseconds(100))
            #expect(try await client.line()?.utf8.count ?? 0 > length)
            try await ended.value
            await loop.shutDown()
        }
    }
}
#endif
